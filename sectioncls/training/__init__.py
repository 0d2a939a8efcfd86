"""Training: samplers, tasks, one loop, checkpoints and the watch for collapse."""

from sectioncls.training.checkpoints import load_checkpoint, peek_checkpoint, save_checkpoint
from sectioncls.training.fit import Diverged, Settings, State, Step, fit, start
from sectioncls.training.monitor import collapse_note, margin_note
from sectioncls.training.occurrences import Occurrences, occurrences_of
from sectioncls.training.processes import first_process, process_count, wait_for_all
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
from sectioncls.training.tracking import (
    TRACKERS,
    Tracking,
    check_tracker,
    end_tracking,
    track_scores,
    track_step,
)

__all__ = [
    "TRACKERS",
    "Diverged",
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
    "Tracking",
    "TripleBatches",
    "check_tracker",
    "collapse_note",
    "cost_of_steps",
    "end_tracking",
    "first_process",
    "fit",
    "load_checkpoint",
    "margin_note",
    "occurrences_of",
    "peek_checkpoint",
    "process_count",
    "save_checkpoint",
    "start",
    "steps_per_epoch",
    "steps_within",
    "task_batches",
    "track_scores",
    "track_step",
    "wait_for_all",
]
