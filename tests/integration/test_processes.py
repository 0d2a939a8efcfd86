"""Training in two processes: a batch of 2 x 12 is a batch of 24."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import pytest
import torch

SCRIPT = """
import json, os, sys
import numpy as np, torch
from sectioncls.encoders import LinearHead, load_encoder
from sectioncls.losses import supcon_loss
from sectioncls.training import LabelBatches, Settings, Task, fit, start

torch.set_num_threads(1)
texts = [" ".join("we the results show study aim data model".split()[: 2 + i % 5]) + f" {i}" for i in range(24)]
labels = np.arange(24) % 3
encoder = load_encoder(sys.argv[1], device="cpu")
for module in encoder.modules():
    if isinstance(module, torch.nn.Dropout):
        module.p = 0.0
tokens = encoder.tokenise(texts)
head = LinearHead(encoder.dimension, ("a", "b", "c"), dropout=0.0)
with torch.no_grad():
    head.linear.weight.copy_(torch.linspace(-0.1, 0.1, head.linear.weight.numel()).view_as(head.linear.weight))
class Both(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = head
    def forward(self, vectors, labels):
        return self.head(vectors, labels) + supcon_loss(vectors, labels)
task = Task("role", tokens, (torch.from_numpy(labels),), LabelBatches(labels, tokens.lengths, 24, 0), Both())
settings = Settings(epochs=3, learning_rate=1e-3, seed=1)
state = start(encoder, [task], settings)
losses = [step.losses["role"] for step in fit(state, [task], settings)]
if int(os.environ.get("RANK", 0)) == 0:
    total = float(sum(p.detach().double().abs().sum() for p in list(encoder.parameters()) + list(head.parameters())))
    print(json.dumps({"losses": losses, "total": total, "processes": state.accelerator.num_processes}))
"""


def train(model, script, processes):
    environment = os.environ | {"OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true", "CUDA_VISIBLE_DEVICES": ""}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = []
    for rank in range(processes):
        place = {} if processes == 1 else {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(processes)}
        place |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        command = [sys.executable, script, model]
        started.append(subprocess.Popen(command, env=environment | place, stdout=subprocess.PIPE, text=True))
    outputs = [process.communicate(timeout=240)[0] for process in started]
    assert all(process.returncode == 0 for process in started)
    return json.loads(outputs[0].strip().splitlines()[-1])


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no torch.distributed")
def test_two_processes_train_like_one(tiny_bert, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT, encoding="utf-8")
    one, two = train(tiny_bert, script, 1), train(tiny_bert, script, 2)
    assert (one["processes"], two["processes"]) == (1, 2)
    assert two["losses"] == pytest.approx(one["losses"], rel=1e-5)
    assert two["total"] == pytest.approx(one["total"], rel=1e-6)
