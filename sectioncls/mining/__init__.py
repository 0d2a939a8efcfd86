"""Mining: from labels or graphs to triples of row numbers, each a pure function of its input and a seed."""

from sectioncls.mining.triplets import triplet_loss_and_accuracy, validation_triplets

__all__ = ["triplet_loss_and_accuracy", "validation_triplets"]
