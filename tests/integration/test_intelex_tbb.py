"""OpenVINO's older TBB keeps scikit-learn-intelex out of the process: ``auto`` then takes scikit-learn."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
from dataclasses import replace
from sectioncls.downstream import PROTOCOLS
from sectioncls.downstream.engines import engine_of
from sectioncls.encoders.exported import openvino_core
openvino_core()
print(engine_of(PROTOCOLS["default"], 10**6))
"""


def test_an_exported_encoder_is_evaluated_all_the_same() -> None:
    pytest.importorskip("openvino", reason="openvino is not installed")
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in ("scikit-learn", "intelex")
