"""Training: samplers, tasks, one loop, checkpoints and the watch for collapse."""

from sectioncls.training.checkpoints import load_checkpoint, peek_checkpoint, save_checkpoint
from sectioncls.training.fit import Settings, State, Step, fit, start
from sectioncls.training.monitor import collapse_note, margin_note
from sectioncls.training.samplers import LabelBatches, LengthBatches
from sectioncls.training.tasks import Sampler, Task, task_batches

__all__ = [
    "LabelBatches",
    "LengthBatches",
    "Sampler",
    "Settings",
    "State",
    "Step",
    "Task",
    "collapse_note",
    "fit",
    "load_checkpoint",
    "margin_note",
    "peek_checkpoint",
    "save_checkpoint",
    "start",
    "task_batches",
]
