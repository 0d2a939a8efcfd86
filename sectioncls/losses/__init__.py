"""Losses: a contrastive loss takes (vectors, targets) and never knows whether rows are sentences or papers."""

from sectioncls.losses.batch_all import batch_all_triplet_loss
from sectioncls.losses.modules import BatchAllTripletLoss

__all__ = ["BatchAllTripletLoss", "batch_all_triplet_loss"]
