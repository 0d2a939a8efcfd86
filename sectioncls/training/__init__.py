"""Training: samplers, tasks, one loop, checkpoints and the watch for collapse."""

from sectioncls.training.checkpoints import load_checkpoint, peek_checkpoint, save_checkpoint
from sectioncls.training.fit import Settings, State, Step, fit, start
from sectioncls.training.monitor import collapse_note, margin_note
from sectioncls.training.occurrences import Occurrences, occurrences_of
from sectioncls.training.samplers import LabelBatches, LengthBatches, TripleBatches
from sectioncls.training.tasks import (
    Mixing,
    Sampler,
    Sharing,
    Task,
    cost_of_steps,
    steps_per_epoch,
    steps_within,
    task_batches,
)

__all__ = [
    "LabelBatches",
    "LengthBatches",
    "Mixing",
    "Occurrences",
    "Sampler",
    "Settings",
    "Sharing",
    "State",
    "Step",
    "Task",
    "TripleBatches",
    "collapse_note",
    "cost_of_steps",
    "fit",
    "load_checkpoint",
    "margin_note",
    "occurrences_of",
    "peek_checkpoint",
    "save_checkpoint",
    "start",
    "steps_per_epoch",
    "steps_within",
    "task_batches",
]
