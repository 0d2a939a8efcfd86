"""Our loss and sampler inside sentence-transformers' own trainer, for those who stay there."""

from __future__ import annotations

import numpy as np
import pytest
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments

from sectioncls.losses import BatchAllTripletLoss
from sectioncls.training import LabelBatches

TEXTS = [f"{'we aim to' if i % 2 else 'results show'} {i} data" for i in range(40)]
LABELS = [i % 2 for i in range(40)]


@pytest.fixture
def model(tiny_bert):
    return SentenceTransformer(str(tiny_bert), device="cpu")


def separation(model):
    x = model.encode(TEXTS)
    centres = np.stack([x[label::2].mean(0) for label in (0, 1)])
    return np.linalg.norm(centres[0] - centres[1]) / np.linalg.norm(x - centres[np.array(LABELS)], axis=1).mean()


def test_they_fit_its_trainer(model, tmp_path):
    seen = []

    class Sampler(LabelBatches):
        def __iter__(self):
            for rows in super().__iter__():
                seen.extend(rows)
                yield rows

    def sampler(dataset, batch_size, seed, **_):
        return Sampler(dataset["label"], [len(text) for text in dataset["sentence"]], batch_size, seed)

    before = separation(model)
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path),
        num_train_epochs=2,
        per_device_train_batch_size=8,
        learning_rate=3e-3,
        batch_sampler=sampler,
        report_to="none",
        save_strategy="no",
        use_cpu=True,
        disable_tqdm=True,
    )
    data = Dataset.from_dict({"sentence": TEXTS, "label": LABELS})
    SentenceTransformerTrainer(
        model=model, args=arguments, train_dataset=data, loss=BatchAllTripletLoss(model, margin=1.0)
    ).train()
    assert separation(model) > 2 * before
    assert sorted(seen[:40]) == list(range(40)) and sorted(seen[40:80]) == list(range(40))
