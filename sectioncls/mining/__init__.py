"""Mining: from labels or graphs to triples of row numbers, each a pure function of its input and a seed."""

from __future__ import annotations

from sectioncls.mining.bands import Band, check_bands, scaled_bands
from sectioncls.mining.citations import RANDOM, SPECTER2_EASY, mine_citations
from sectioncls.mining.clicks import mine_clicks
from sectioncls.mining.curve import CurvePoint, curve
from sectioncls.mining.easy import EASY
from sectioncls.mining.embeddings import EMBEDDINGS, average_embeddings, embed_graph, train_embeddings
from sectioncls.mining.graph import Graph, graph_of
from sectioncls.mining.linkmetrics import LinkMetrics, hold_out, link_metrics
from sectioncls.mining.links import mine_links
from sectioncls.mining.neighbours import Neighbours, mine_neighbours, nearest
from sectioncls.mining.oracle import mine_classes, mine_judged, mine_oracle
from sectioncls.mining.thresholds import ThresholdPoint, threshold_points
from sectioncls.mining.topics import mine_topics
from sectioncls.mining.triples import MiningReport, Triples, collisions, join_triples, linked
from sectioncls.mining.triplets import triplet_loss_and_accuracy, validation_triplets

__all__ = [
    "EASY",
    "EMBEDDINGS",
    "RANDOM",
    "SPECTER2_EASY",
    "Band",
    "CurvePoint",
    "Graph",
    "LinkMetrics",
    "MiningReport",
    "Neighbours",
    "ThresholdPoint",
    "Triples",
    "average_embeddings",
    "check_bands",
    "collisions",
    "curve",
    "embed_graph",
    "graph_of",
    "hold_out",
    "join_triples",
    "link_metrics",
    "linked",
    "mine_citations",
    "mine_classes",
    "mine_clicks",
    "mine_judged",
    "mine_links",
    "mine_neighbours",
    "mine_oracle",
    "mine_topics",
    "nearest",
    "scaled_bands",
    "threshold_points",
    "train_embeddings",
    "triplet_loss_and_accuracy",
    "validation_triplets",
]
