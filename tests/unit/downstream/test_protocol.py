"""The order that a protocol hands rows in."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from sectioncls.downstream import CLASSIFIERS, PROTOCOLS
from sectioncls.downstream.protocols import length_order, row_order
from sectioncls.errors import InputError, UsageError


@pytest.mark.parametrize("n", [0, 1, 2, 16, 17, 18, 400])
def test_length_order_sorts_every_row_once(n):
    lengths = np.random.default_rng(n).integers(0, 1 + n // 3, n)
    order = length_order(lengths.tolist())
    assert sorted(order.tolist()) == list(range(n))
    assert (np.diff(lengths[order]) >= 0).all()


def test_ties_fall_as_in_numpy_without_vector_instructions():
    code = (
        "import numpy as np; r = np.random.default_rng(1)\n"
        "for n in (5, 16, 17, 40, 333, 4000):\n"
        "    print(*np.argsort(r.integers(0, 1 + n // 9, n)).tolist())"
    )
    features = "X86_V3 X86_V4 AVX512F AVX512_SKX AVX2 ASIMD"
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "NPY_DISABLE_CPU_FEATURES": features},
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        pytest.skip("this numpy can't do without its vector instructions")
    rng = np.random.default_rng(1)
    for n, line in zip((5, 16, 17, 40, 333, 4000), run.stdout.splitlines(), strict=True):
        ours = length_order(rng.integers(0, 1 + n // 9, n).tolist())
        assert ours.tolist() == [int(row) for row in line.split()]


FIVE = ["decision-tree", "knn", "random-forest", "mlp", "svm"]


def test_protocols_name_classifiers_that_there_are():
    for name, protocol in PROTOCOLS.items():
        assert protocol.name == name
        assert set(protocol.methods) <= set(protocol.classifiers) <= set(CLASSIFIERS)
        assert set(protocol.grids) <= set(protocol.classifiers)
    paper, default, tuned = (PROTOCOLS[name] for name in ("paper", "default", "tuned"))
    assert list(paper.classifiers) == list(paper.methods) == FIVE and list(default.methods) == FIVE
    assert list(default.classifiers) == list(tuned.methods) == list(CLASSIFIERS) == list(tuned.grids)


def test_paper_is_as_published():
    paper = PROTOCOLS["paper"]
    assert (paper.seed, paper.order, paper.engine) == (31415, "length", "scikit-learn")
    assert not paper.grids and not paper.uses_dev and not paper.more and paper.silhouette_rows is None


def test_row_order_needs_lengths_only_where_it_sorts():
    paper = PROTOCOLS["paper"]
    assert row_order(replace(paper, order="file"), 3, None).tolist() == [0, 1, 2]
    assert row_order(paper, 3, [9, 1, 5]).tolist() == [1, 2, 0]
    with pytest.raises(UsageError):
        row_order(paper, 3, None)
    with pytest.raises(InputError):
        row_order(paper, 3, [1, 2])
