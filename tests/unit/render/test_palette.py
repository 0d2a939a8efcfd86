"""Colours keep their contrast on both pages and stay apart for colour-blind readers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sectioncls.render import DARK, LIGHT, MARKERS, marks

ROLES = ["background", "objective", "method", "result", "conclusion", "other"]

# Machado, Oliveira and Fernandes 2009, severity 1.0, in linear RGB.
VISION = {
    "normal": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]]
    ),
}


def linear(colour: str) -> np.ndarray:
    channels = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.9505, 1, 1.089])
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def contrast(one: str, other: str) -> float:
    light, dark = sorted((float(np.array([0.2126, 0.7152, 0.0722]) @ linear(c)) for c in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("page", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast(page: dict[str, str]) -> None:
    for name in ("ink", "muted", "accent"):
        assert contrast(page[name], page["paper"]) >= 4.5, name
    assert contrast(page["edge"], page["paper"]) >= 3
    for label, mark in marks(ROLES).items():
        assert contrast(mark.colour, page["paper"]) >= 3, label


@pytest.mark.parametrize("vision", VISION)
def test_any_two_roles_stay_apart(vision: str) -> None:
    seen = {label: lab(VISION[vision] @ linear(mark.colour)) for label, mark in marks(ROLES).items()}
    for one, other in combinations(seen, 2):
        assert np.linalg.norm(seen[one] - seen[other]) > 14, (one, other)


def test_roles_differ_in_shape_too() -> None:
    found = marks(ROLES)
    assert len({mark.marker for mark in found.values()}) == len(ROLES)
    assert all(mark.marker in MARKERS for mark in found.values())


def test_a_role_looks_the_same_beside_any_others() -> None:
    assert marks(["result", "zebra"])["result"] == marks(ROLES)["result"]


def test_unknown_labels_get_looks_of_their_own() -> None:
    labels = [f"label {place}" for place in range(30)] + ROLES
    assert len(set(marks(labels).values())) == len(labels)
