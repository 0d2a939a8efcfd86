"""Fine-tuning throughput, MiniLM on CSAbstruct train, beside sentence-transformers' trainer; and huge batches.

The seconds of the later benchmarks are those of the processor, which a busy machine moves less than those of the clock.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

STEPS, ROUNDS, BATCH = 24, 3, 32
FROZEN, EPOCHS = 3, 4
LARGE = 1024
HUGE = 2048


@pytest.fixture(scope="module")
def rows(shared):
    import pyarrow.parquet as pq

    table = pq.read_table(shared / "sentences" / "paper_csabstruct" / "csabstruct_train.parquet")
    return table["sentence"].to_pylist(), table["label_id"].to_pylist()


def ours(texts, labels, round_, *, frozen=0, precision="float32", clock=time.perf_counter):
    """Give the sentences per second of our loop over some steps of its own buckets.

    With ``frozen`` layers their share of what they give once, for EPOCHS epochs, counts as well.
    """
    import numpy as np
    import torch

    from sectioncls.encoders import freeze_lowest, keep_lowest, load_encoder
    from sectioncls.losses import batch_all_triplet_loss
    from sectioncls.training import LabelBatches, Settings, Task, fit, start

    encoder = load_encoder("minilm", device="cpu")
    tokens = rows = encoder.tokenise(texts)
    once = 0.0
    if frozen:
        freeze_lowest(encoder, frozen)
        began = clock()
        rows = keep_lowest(encoder, tokens, frozen)
        once = (clock() - began) / len(texts) / EPOCHS
    sampler = LabelBatches(labels, tokens.lengths, BATCH, seed=round_)
    loss = partial(batch_all_triplet_loss, margin=0.25)
    task = Task("role", rows, (torch.from_numpy(np.asarray(labels)),), sampler, loss)
    settings = Settings(epochs=1, seed=round_, precision=precision)
    state = start(encoder, [task], settings)
    steps = fit(state, [task], settings)
    next(steps)
    began, done = clock(), 0
    for _ in range(STEPS):
        done += next(steps).rows
    return 1 / ((clock() - began) / done + once)


def theirs(texts, labels, round_, folder, *, clock=time.perf_counter):
    """Give the same of the stock trainer: its own loss, random batches, padding to the longest."""
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.sentence_transformer.losses import BatchAllTripletLoss
    from transformers import TrainerCallback

    from sectioncls.encoders import load_encoder

    model = load_encoder("minilm", device="cpu").model
    data = Dataset.from_dict({"sentence": texts, "label": labels})

    class Clock(TrainerCallback):
        marks: list[float] = []  # noqa: RUF012

        def on_step_end(self, args, state, control, **kwargs):
            self.marks.append(clock())

    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(folder),
        max_steps=STEPS + 1,
        per_device_train_batch_size=BATCH,
        learning_rate=2e-5,
        seed=round_,
        use_cpu=True,
        report_to="none",
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
    )
    watch = Clock()
    watch.marks.clear()
    SentenceTransformerTrainer(
        model=model,
        args=arguments,
        train_dataset=data,
        loss=BatchAllTripletLoss(model, margin=0.25),
        callbacks=[watch],
    ).train()
    return STEPS * BATCH / (watch.marks[-1] - watch.marks[0])


def test_throughput(rows, tmp_path):
    texts, labels = rows
    work = {
        "float32": partial(ours, texts, labels),
        "bf16": partial(ours, texts, labels, precision="bf16"),
        "theirs": lambda round_, *, clock: theirs(texts, labels, round_, tmp_path / str(round_), clock=clock),
    }
    found = {name: [] for name in work}
    for round_ in range(ROUNDS):
        for name, measured in work.items():
            found[name].append(measured(round_, clock=time.process_time))
    rate = {name: statistics.median(values) for name, values in found.items()}
    print(
        f"\nfine-tuning MiniLM, every weight, batch {BATCH}, CSAbstruct train: sentence-transformers' trainer "
        f"{rate['theirs']:.1f} sentences per second of the processor; ours "
        + ", ".join(f"{name} {rate[name]:.1f} ({rate[name] / rate['theirs']:.2f} x)" for name in ("float32", "bf16"))
    )
    assert rate["float32"] / rate["theirs"] >= 1.7
    if "avx512_bf16" in Path("/proc/cpuinfo").read_text():  # elsewhere bf16 is emulated
        assert rate["bf16"] / rate["theirs"] >= 2.5


def test_frozen_layers(rows, tmp_path):
    texts, labels = rows
    found = {"ours": [], "theirs": []}
    for round_ in range(ROUNDS):
        found["ours"].append(ours(texts, labels, round_, frozen=FROZEN, clock=time.process_time))
        found["theirs"].append(theirs(texts, labels, round_, tmp_path / str(round_), clock=time.process_time))
    own, other = statistics.median(found["ours"]), statistics.median(found["theirs"])
    print(
        f"\nfine-tuning MiniLM, the lowest {FROZEN} layers frozen and computed once in {EPOCHS} epochs: {own:.1f} "
        f"sentences per second of the processor, sentence-transformers' trainer (all layers) {other:.1f}: "
        f"{own / other:.2f} x"
    )
    assert own / other >= 4


SCRIPT = """
import json, resource, sys, time
from functools import partial
import torch
from sectioncls.encoders import load_encoder
from sectioncls.losses import batch_all_triplet_loss
from sectioncls.training import LabelBatches, Settings, Task, fit, start

batch, chunk, steps = map(int, sys.argv[2:])
rows = json.load(sys.stdin)
encoder = load_encoder(sys.argv[1], device="cpu")
tokens = encoder.tokenise(rows["texts"])
sampler = LabelBatches(rows["labels"], tokens.lengths, batch, seed=0)
task = Task("role", tokens, (torch.tensor(rows["labels"]),), sampler, partial(batch_all_triplet_loss, margin=0.25))
settings = Settings(epochs=9, chunk=chunk)
state = start(encoder, [task], settings)
taken = fit(state, [task], settings)
began, done = time.process_time(), 0
for _ in range(steps):
    done += next(taken).rows
cost = (time.process_time() - began) / done
print(json.dumps({"cost": cost, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""


def trained(rows, batch, chunk, steps, model="minilm"):
    """Give the processor's seconds per sentence and the peak memory (MiB) of a process that trains some steps."""
    data = json.dumps({"texts": rows[0], "labels": rows[1]})
    command = [sys.executable, "-c", SCRIPT, str(model), str(batch), str(chunk), str(steps)]
    done = subprocess.run(command, input=data, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_large_batches_in_chunks(rows):
    small = trained(rows, BATCH, 0, 2 * LARGE // BATCH)
    large = trained(rows, LARGE, BATCH, 2)
    cost, peak = large["cost"] / small["cost"], large["peak"] / small["peak"]
    print(
        f"\nbatch {LARGE} in chunks of {BATCH} beside batch {BATCH}: {1000 * large['cost']:.1f} and "
        f"{1000 * small['cost']:.1f} ms a sentence ({cost:.2f} x), peak {large['peak']:.0f} and "
        f"{small['peak']:.0f} MiB ({peak:.2f} x)"
    )
    assert cost <= 1.5
    assert peak <= 1.2


def test_one_step_of_scibert_s_shape(rows, tmp_path):
    """110 M parameters, drawn at random, for the hub can't be reached: memory and time are those of SciBERT."""
    import torch
    from transformers import BertConfig, BertModel

    from sectioncls.encoders import load_encoder

    torch.manual_seed(0)
    BertModel(BertConfig(vocab_size=31_090)).save_pretrained(tmp_path)
    load_encoder("minilm").model.tokenizer.save_pretrained(tmp_path)
    found = trained(rows, HUGE, BATCH, 1, tmp_path)
    print(
        f"\none step of SciBERT's shape, batch {HUGE} in chunks of {BATCH}: {HUGE * found['cost'] / 60:.1f} "
        f"processor minutes, {1000 * found['cost']:.0f} ms a sentence, peak {found['peak']:.0f} MiB"
    )
    assert found["peak"] < 8 * 1024
