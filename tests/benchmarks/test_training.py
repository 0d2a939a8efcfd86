"""Fine-tuning throughput, MiniLM on CSAbstruct train, batch 32, beside sentence-transformers' trainer."""

from __future__ import annotations

import statistics
import time
from functools import partial

import pytest

STEPS, ROUNDS, BATCH = 24, 3, 32


@pytest.fixture(scope="module")
def rows(shared):
    import pyarrow.parquet as pq

    table = pq.read_table(shared / "sentences" / "paper_csabstruct" / "csabstruct_train.parquet")
    return table["sentence"].to_pylist(), table["label_id"].to_pylist()


def ours(texts, labels, round_):
    """Give the sentences per second of our loop over some steps of its own buckets."""
    import numpy as np
    import torch

    from sectioncls.encoders import load_encoder
    from sectioncls.losses import batch_all_triplet_loss
    from sectioncls.training import LabelBatches, Settings, Task, fit, start

    encoder = load_encoder("minilm", device="cpu")
    tokens = encoder.tokenise(texts)
    sampler = LabelBatches(labels, tokens.lengths, BATCH, seed=round_)
    loss = partial(batch_all_triplet_loss, margin=0.25)
    task = Task("role", tokens, (torch.from_numpy(np.asarray(labels)),), sampler, loss)
    settings = Settings(epochs=1, seed=round_)
    state = start(encoder, [task], settings)
    steps = fit(state, [task], settings)
    next(steps)
    began, rows = time.perf_counter(), 0
    for _ in range(STEPS):
        rows += next(steps).rows
    return rows / (time.perf_counter() - began)


def theirs(texts, labels, round_, folder):
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
            self.marks.append(time.perf_counter())

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
    clock = Clock()
    clock.marks.clear()
    SentenceTransformerTrainer(
        model=model,
        args=arguments,
        train_dataset=data,
        loss=BatchAllTripletLoss(model, margin=0.25),
        callbacks=[clock],
    ).train()
    return STEPS * BATCH / (clock.marks[-1] - clock.marks[0])


def test_throughput(rows, tmp_path):
    texts, labels = rows
    found = {"ours": [], "theirs": []}
    for round_ in range(ROUNDS):
        found["ours"].append(ours(texts, labels, round_))
        found["theirs"].append(theirs(texts, labels, round_, tmp_path / str(round_)))
    own, other = statistics.median(found["ours"]), statistics.median(found["theirs"])
    print(
        f"\nfine-tuning MiniLM, float32, batch {BATCH}, CSAbstruct train: {own:.1f} sentences/s, "
        f"sentence-transformers' trainer {other:.1f}: {own / other:.2f} x"
    )
    assert own / other >= 1.7
