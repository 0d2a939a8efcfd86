"""Tests; a package, so that worker processes import this one and not another of its name."""
