"""Training in two processes: a batch of 2 x 12 is a batch of 24, and what no process learns from stays as it is."""

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

ROUTES = """
import json, os, sys
import numpy as np, torch
from functools import partial
from sectioncls.encoders import condition, join_tokens, load_encoder
from sectioncls.losses import infonce_loss
from sectioncls.training import Settings, Task, TripleBatches, fit, occurrences_of, start

torch.set_num_threads(1)
words = "we the results show study aim data model".split()
# Queries are shorter than documents, so that one process holds all queries, the other all documents.
queries = [f"{words[i % 8]} {i}" for i in range(32)]
documents = [" ".join([words[i % 8], *words, *words]) + f" {i}" for i in range(32)]
encoder = condition(load_encoder(sys.argv[1], device="cpu"), "adapters", seed=2, trains="all")
for module in encoder.modules():
    if isinstance(module, torch.nn.Dropout):
        module.p = 0.0
with torch.no_grad():
    for number, weight in enumerate(encoder.conditioning.parameters()):
        weight.add_(torch.linspace(-0.02, 0.02, weight.numel()).view_as(weight) * (1 + number % 3))
before = {name: weight.detach().clone() for name, weight in encoder.named_parameters()}
tokens = [encoder.tokenise(queries, "search", "query"), encoder.tokenise(documents, "search", "document")]
rows = np.arange(32)
seen = occurrences_of(join_tokens(tokens), rows, rows + 32, np.zeros((32, 0)), np.arange(64))
sampler = TripleBatches(seen.firsts, seen.lengths, 32, 0)
task = Task("search", seen, seen.targets, sampler, partial(infonce_loss, temperature=1.0))
settings = Settings(epochs=4, learning_rate=1e-3, weight_decay=0.1, clip=1e9, seed=1)
state = start(encoder, [task], settings)
losses = [step.losses["search"] for step in fit(state, [task], settings)]
if int(os.environ.get("RANK", 0)) == 0:
    moved = sorted(name for name, weight in encoder.named_parameters() if not torch.equal(weight, before[name]))
    total = float(sum(p.detach().double().abs().sum() for p in encoder.parameters()))
    result = {"losses": losses, "total": total, "processes": state.accelerator.num_processes, "moved": moved}
    print(json.dumps(result | {"all": sorted(before)}))
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


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no torch.distributed")
def test_routes_that_no_process_learns_stay_bit_equal(tiny_bert, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(ROUTES, encoding="utf-8")
    one, two = train(tiny_bert, script, 1), train(tiny_bert, script, 2)
    assert (one["processes"], two["processes"]) == (1, 2)
    assert two["losses"] == pytest.approx(one["losses"], rel=1e-5)  # 2 x 32 rows are 1 x 64
    assert two["total"] == pytest.approx(one["total"], rel=1e-6)
    assert two["moved"] == one["moved"]
    adapters = {route: {name for name in two["all"] if f".{route}." in name} for route in ("search", "regression")}
    assert adapters["search"] <= set(two["moved"])
    assert adapters["regression"] and not adapters["regression"] & set(two["moved"])


FINETUNE = """
import json, os, sys
import torch
torch.set_num_threads(1)
from sectioncls.corpora import open_corpus
from sectioncls.encoders import load_encoder
from sectioncls.errors import UsageError
from sectioncls.recipes import FinetuneOptions, SearchOptions, check_search, finetune

encoder = load_encoder(sys.argv[1], device="cpu")
for module in encoder.modules():
    if isinstance(module, torch.nn.Dropout):
        module.p = 0.0
options = FinetuneOptions(model=sys.argv[1], epochs=1, learning_rate=1e-3, margin=1.0, patience=9)
folder = __import__("pathlib").Path(sys.argv[0]).parent / os.environ.get("WORLD_SIZE", "1")
done = finetune(open_corpus(os.environ["CORPUS"]), options, folder, seed=1, encoder=encoder)
try:
    check_search(SearchOptions(sampler="grid", space={"margin": (1, 2)}), options)
    refused = False
except UsageError:
    refused = True
if int(os.environ.get("RANK", 0)) == 0:
    kinds = [row["kind"] for row in done.history]
    counts = {"steps": kinds.count("step"), "checks": kinds.count("dev")}
    left = folder.with_name(folder.name + ".training").exists()
    files = sorted(path.name for path in folder.iterdir())
    print(json.dumps({"dev": done.dev, "refused": refused, "files": files, "left": left, **counts}))
"""


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no torch.distributed")
def test_two_processes_write_one_encoder(tiny_bert, small_corpus, tmp_path, monkeypatch):
    monkeypatch.setenv("CORPUS", str(small_corpus))
    script = tmp_path / "finetune.py"
    script.write_text(FINETUNE, encoding="utf-8")
    one, two = train(tiny_bert, script, 1), train(tiny_bert, script, 2)
    assert two["dev"] == pytest.approx(one["dev"], abs=0.04)
    assert (two["steps"], two["checks"]) == (one["steps"], one["checks"]) == (9, 3)
    assert two["files"] == one["files"] and "model.safetensors" in two["files"]
    assert (one["refused"], two["refused"]) == (False, True)
    assert not one["left"] and not two["left"]
