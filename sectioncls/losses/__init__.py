"""Losses: a contrastive loss takes (vectors, targets) and never knows whether rows are sentences or papers."""

from sectioncls.losses.batch_all import batch_all_triplet_loss
from sectioncls.losses.centres import ArcFaceLoss, CentreLoss
from sectioncls.losses.modules import BatchAllTripletLoss, LabelLoss
from sectioncls.losses.pairs import pairs_of
from sectioncls.losses.pairwise import contrastive_loss, multi_similarity_loss
from sectioncls.losses.supcon import npair_loss, supcon_loss
from sectioncls.losses.triplets import batch_hard_triplet_loss, batch_semi_hard_triplet_loss, soft_triplet_loss

__all__ = [
    "ArcFaceLoss",
    "BatchAllTripletLoss",
    "CentreLoss",
    "LabelLoss",
    "batch_all_triplet_loss",
    "batch_hard_triplet_loss",
    "batch_semi_hard_triplet_loss",
    "contrastive_loss",
    "multi_similarity_loss",
    "npair_loss",
    "pairs_of",
    "soft_triplet_loss",
    "supcon_loss",
]
