"""Losses: a contrastive loss takes (vectors, targets) and never knows whether rows are sentences or papers."""

from sectioncls.losses.batch_all import batch_all_triplet_loss
from sectioncls.losses.centres import ArcFaceLoss, CentreLoss
from sectioncls.losses.heads import HeadLoss, TaskHead
from sectioncls.losses.infonce import NEGATIVE, POSITIVE, QUERY, Known, infonce_loss, known_pairs
from sectioncls.losses.margin import triplet_margin_loss
from sectioncls.losses.modules import BatchAllTripletLoss, LabelLoss
from sectioncls.losses.pairs import pairs_of
from sectioncls.losses.pairwise import contrastive_loss, multi_similarity_loss
from sectioncls.losses.supcon import npair_loss, supcon_loss
from sectioncls.losses.triplets import batch_hard_triplet_loss, batch_semi_hard_triplet_loss, soft_triplet_loss

__all__ = [
    "NEGATIVE",
    "POSITIVE",
    "QUERY",
    "ArcFaceLoss",
    "BatchAllTripletLoss",
    "CentreLoss",
    "HeadLoss",
    "Known",
    "LabelLoss",
    "TaskHead",
    "batch_all_triplet_loss",
    "batch_hard_triplet_loss",
    "batch_semi_hard_triplet_loss",
    "contrastive_loss",
    "infonce_loss",
    "known_pairs",
    "multi_similarity_loss",
    "npair_loss",
    "pairs_of",
    "soft_triplet_loss",
    "supcon_loss",
    "triplet_margin_loss",
]
