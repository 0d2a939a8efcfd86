"""The loop: it learns, obeys its schedule, serves several tasks, and resumes bit for bit."""

from __future__ import annotations

import errno
import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

from sectioncls.encoders import LinearHead, load_encoder
from sectioncls.errors import InputError, OutputError, UsageError
from sectioncls.losses import batch_all_triplet_loss
from sectioncls.training import (
    Diverged,
    LabelBatches,
    Mixing,
    Settings,
    Task,
    Tracking,
    check_tracker,
    end_tracking,
    fit,
    load_checkpoint,
    peek_checkpoint,
    save_checkpoint,
    start,
    track_scores,
    track_step,
)

TEXTS = [f"{'we aim to' if i % 2 else 'results show'} {i} data" for i in range(40)]
LABELS = np.arange(40) % 2


def task(encoder, objective=None, batch=8, name="role"):
    tokens = encoder.tokenise(TEXTS)
    objective = objective or partial(batch_all_triplet_loss, margin=1.0)
    return Task(name, tokens, (torch.from_numpy(LABELS),), LabelBatches(LABELS, tokens.lengths, batch, 0), objective)


def weights(state):
    return {
        name: value.detach().clone()
        for module in (state.encoder, state.objectives)
        for name, value in module.named_parameters()
    }


def test_it_learns(tiny_bert):
    encoder = load_encoder(tiny_bert, device="cpu")
    head = LinearHead(encoder.dimension, ("a", "b"))
    settings = Settings(epochs=8, learning_rate=3e-3, seed=1)
    state = start(encoder, [task(encoder, head)], settings)
    losses = [step.losses["role"] for step in fit(state, [task(encoder, head)], settings)]
    assert len(losses) == 40
    assert np.mean(losses[-5:]) < 0.3 * np.mean(losses[:5])


def test_schedule_warms_up_and_decays(tiny_bert):
    encoder = load_encoder(tiny_bert, device="cpu")
    settings = Settings(epochs=4, learning_rate=1e-3, warmup=0.25)
    tasks = [task(encoder)]
    steps = list(fit(start(encoder, tasks, settings), tasks, settings))
    rates = [step.learning_rate for step in steps]
    assert rates[:5] == pytest.approx([2e-4, 4e-4, 6e-4, 8e-4, 1e-3])
    assert rates[5] == pytest.approx(1e-3)
    assert rates[-1] == pytest.approx(1e-3 / 15)
    assert [step.number for step in steps] == list(range(1, 21))
    assert steps[-1].epoch == 4


def test_weight_decay_spares_vectors(tiny_bert):
    encoder = load_encoder(tiny_bert, device="cpu")
    state = start(encoder, [task(encoder)], Settings(weight_decay=0.1))
    decayed, spared = state.optimiser.param_groups
    assert decayed["weight_decay"] == 0.1 and all(p.ndim >= 2 for p in decayed["params"])
    assert spared["weight_decay"] == 0.0 and all(p.ndim < 2 for p in spared["params"])


def test_several_tasks_add_up(tiny_bert):
    encoder = load_encoder(tiny_bert, device="cpu")
    head = LinearHead(encoder.dimension, ("a", "b"))
    tasks = [task(encoder), task(encoder, head, batch=20, name="ce")]  # 5 batches an epoch, and 2
    settings = Settings(epochs=2)
    steps = list(fit(start(encoder, tasks, settings), tasks, settings))
    assert len(steps) == 10
    assert all(set(step.losses) == {"role", "ce"} and step.rows == 28 for step in steps)


def one_step(tiny_bert, *tasks_of):
    torch.manual_seed(0)
    encoder = load_encoder(tiny_bert, device="cpu")
    for module in encoder.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    tasks = tasks_of[0](encoder)
    settings = Settings(epochs=1, learning_rate=1e-3, clip=1e9, seed=0, weight_decay=0.0)
    state = start(encoder, tasks, settings)
    next(fit(state, tasks, settings))
    return weights(state)


def test_two_halves_of_a_task_equal_the_task(tiny_bert):
    def halves(encoder):
        whole = task(encoder)
        return [
            Task(name, whole.tokens, whole.targets, whole.sampler, whole.objective, weight=0.5) for name in ("a", "b")
        ]

    once = one_step(tiny_bert, lambda encoder: [task(encoder)])
    twice = one_step(tiny_bert, halves)
    for name, value in once.items():
        torch.testing.assert_close(value, twice[name], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("cut", [1, 7, 10, 13])
def test_resuming_is_bit_for_bit(tiny_bert, tmp_path, cut):
    settings = Settings(epochs=4, learning_rate=1e-3, seed=3)

    def begin():
        torch.manual_seed(9)
        encoder = load_encoder(tiny_bert, device="cpu")
        tasks = [task(encoder), task(encoder, LinearHead(encoder.dimension, ("a", "b")), batch=16, name="ce")]
        return start(encoder, tasks, settings), tasks

    state, tasks = begin()
    for step in fit(state, tasks, settings):
        if step.number == cut:
            state.extra = {"best": 0.5}
            save_checkpoint(state, tmp_path / "c.safetensors")
    unbroken = weights(state)

    torch.manual_seed(12345)  # another process would stand elsewhere
    state, tasks = begin()
    load_checkpoint(state, tmp_path / "c.safetensors")
    assert state.step == cut and state.extra == {"best": 0.5}
    numbers = [step.number for step in fit(state, tasks, settings)]
    assert numbers == list(range(cut + 1, 21))
    for name, value in weights(state).items():
        assert torch.equal(value, unbroken[name]), name


def test_same_seed_same_weights(tiny_bert):
    def trained(seed):
        encoder = load_encoder(tiny_bert, device="cpu")
        settings = Settings(epochs=1, learning_rate=1e-3, seed=seed)
        tasks = [task(encoder)]
        state = start(encoder, tasks, settings)
        for _ in fit(state, tasks, settings):
            pass
        return weights(state)

    first, second, other = trained(1), trained(1), trained(2)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


def test_a_loss_that_is_not_finite_stops_with_one_line(tiny_bert):
    encoder = load_encoder(tiny_bert, device="cpu")
    tasks = [task(encoder, lambda vectors, targets: vectors.sum() * float("nan"))]
    settings = Settings(epochs=1)
    with pytest.raises(UsageError, match=r"^step 1 \(rows .*\): the loss of role is nan"):
        list(fit(start(encoder, tasks, settings), tasks, settings))


def test_checkpoints_of_others_are_refused(tiny_bert, tmp_path):
    encoder = load_encoder(tiny_bert, device="cpu")
    plain = start(encoder, [task(encoder)], Settings())
    (tmp_path / "junk.safetensors").write_bytes(b"junk")
    with pytest.raises(InputError, match="not a checkpoint"):
        peek_checkpoint(tmp_path / "junk.safetensors")
    save_checkpoint(plain, tmp_path / "plain.safetensors")
    headed = start(encoder, [task(encoder, LinearHead(encoder.dimension, ("a", "b")))], Settings())
    with pytest.raises(InputError, match="another model"):
        load_checkpoint(headed, tmp_path / "plain.safetensors")


def test_steps_and_the_inverse_square_root(tiny_bert):
    encoder = load_encoder(tiny_bert, device="cpu")
    settings = Settings(epochs=99, steps=8, learning_rate=1e-3, warmup=0.25, schedule="inverse-sqrt")
    tasks = [task(encoder)]
    rates = [step.learning_rate for step in fit(start(encoder, tasks, settings), tasks, settings)]
    assert rates == pytest.approx([5e-4, 1e-3, *(1e-3 * (2 / step) ** 0.5 for step in range(3, 9))])


def test_alternating_tasks_leave_each_others_heads_alone(tiny_bert):
    encoder = load_encoder(tiny_bert, device="cpu")
    heads = [LinearHead(encoder.dimension, ("a", "b")) for _ in range(2)]
    tasks = [task(encoder, head, name=name) for head, name in zip(heads, ("x", "y"), strict=True)]
    settings = Settings(epochs=1, learning_rate=1e-3, weight_decay=0.1, mixing=Mixing("alternating"))
    state = start(encoder, tasks, settings)
    kept = [head.linear.weight.detach().clone() for head in heads]
    for step, moved in zip(fit(state, tasks, settings), (0, 1), strict=False):
        assert len(step.losses) == 1
        assert not torch.equal(heads[moved].linear.weight, kept[moved])
        assert torch.equal(heads[1 - moved].linear.weight, kept[1 - moved])
        kept[moved] = heads[moved].linear.weight.detach().clone()


def test_rates_fall_from_the_last_block_to_the_embeddings(tiny_bert):
    from sectioncls.encoders import condition

    encoder = condition(load_encoder(tiny_bert, device="cpu"), "mha-experts", tasks=["proximity", "search"])
    head = LinearHead(encoder.dimension, ("a", "b"))
    tokens = encoder.tokenise(TEXTS, "search")
    one = Task("role", tokens, (torch.from_numpy(LABELS),), LabelBatches(LABELS, tokens.lengths, 8, 0), head)
    settings = Settings(steps=1, learning_rate=1e-3, warmup=0.0, layer_decay=0.5)
    state = start(encoder, [one], settings)
    list(fit(state, [one], settings))
    rates = {id(weight): group["lr"] for group in state.optimiser.param_groups for weight in group["params"]}
    blocks = encoder.backbone.config.num_hidden_layers
    for name, weight in encoder.backbone.named_parameters():
        where = name.split(".")
        if name.startswith("embeddings."):
            below = blocks + 1
        elif name.startswith(("encoder.layer.", "conditioning.experts.")):
            below = blocks - int(where[2])
        else:
            below = 0
        assert rates[id(weight)] == pytest.approx(1e-3 * 0.5**below), name
    assert rates[id(head.linear.weight)] == pytest.approx(1e-3)
    assert len(rates) == sum(1 for module in (encoder, head) for _ in module.parameters())


def test_without_decay_all_rates_are_one(tiny_bert):
    encoder = load_encoder(tiny_bert, device="cpu")
    state = start(encoder, [task(encoder)], Settings())
    assert [group["share"] for group in state.optimiser.param_groups] == [1.0, 1.0]


def test_a_gradient_that_is_not_finite_moves_no_weight(tiny_bert):
    encoder = load_encoder(tiny_bert, device="cpu")
    # The root of zero is finite, its slope is not.
    tasks = [task(encoder, lambda vectors, targets: (vectors - vectors.detach()).square().sum().sqrt())]
    before = [weight.clone() for weight in encoder.parameters()]
    state = start(encoder, tasks, Settings(epochs=1))
    with pytest.raises(Diverged, match=r"the gradient's norm is nan") as caught:
        next(fit(state, tasks, Settings(epochs=1)))
    assert caught.value.step == 1 and len(caught.value.batches["role"]) > 0
    assert all(torch.equal(one, two) for one, two in zip(before, encoder.parameters(), strict=True))


def test_a_full_disk_leaves_the_old_checkpoint(tiny_bert, tmp_path, monkeypatch):
    encoder = load_encoder(tiny_bert, device="cpu")
    tasks = [task(encoder, lambda vectors, targets: vectors.square().sum())]
    state = start(encoder, tasks, Settings(epochs=1))
    path = tmp_path / "checkpoint.safetensors"
    save_checkpoint(state, path)
    kept = path.read_bytes()

    def half(tensors, aside, metadata):
        Path(aside).write_bytes(kept[:1000])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("safetensors.torch.save_file", half)
    state.step = 5
    with pytest.raises(OutputError, match="no space left"):
        save_checkpoint(state, path)
    assert path.read_bytes() == kept and list(tmp_path.iterdir()) == [path]
    load_checkpoint(state, path)
    assert state.step == 0


def test_a_checkpoint_of_another_version_is_refused(tiny_bert, tmp_path):
    from safetensors.torch import save_file

    save_file({"x": torch.zeros(1)}, tmp_path / "c", {"sectioncls": '{"format": 9, "step": 1, "extra": {}}'})
    with pytest.raises(InputError, match="another version of sectioncls"):
        peek_checkpoint(tmp_path / "c")


def test_tensorboard_gets_every_step(tiny_bert, tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    encoder = load_encoder(tiny_bert, device="cpu")
    tasks = [task(encoder, lambda vectors, targets: vectors.square().sum())]
    settings = Settings(epochs=1)
    tracking = Tracking("tensorboard", "mine", tmp_path / "logs", {"margin": 0.25, "pooling": None, "delta": False})
    state = start(encoder, tasks, settings, tracking=tracking)
    told = []
    for step in fit(state, tasks, settings):
        track_step(state, step)
        told.append(step.losses["role"])
    track_scores(state, {"f1-micro": 0.5})
    end_tracking(state)
    events = EventAccumulator(str(tmp_path / "logs" / "mine")).Reload()
    assert [one.value for one in events.Scalars("loss/role")] == pytest.approx(told)
    assert [one.step for one in events.Scalars("learning-rate")] == list(range(1, len(told) + 1))
    assert events.Scalars("dev/f1-micro")[0].value == 0.5


def test_trackers_that_are_missing_or_unknown():
    with pytest.raises(UsageError, match="one of tensorboard, wandb, trackio"):
        check_tracker("mlflow")
    if find_spec("wandb") is None:
        with pytest.raises(InputError, match=r"wandb is not installed \(pip install wandb"):
            check_tracker("wandb")


def test_nothing_of_a_tracker_is_imported_unused(tiny_bert):
    code = (
        "import sys; from sectioncls.training import start, Settings; from sectioncls.encoders import load_encoder;"
        f"start(load_encoder({str(tiny_bert)!r}), [], Settings());"
        "sys.exit(any(name in sys.modules for name in ('tensorboard', 'wandb', 'trackio')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
