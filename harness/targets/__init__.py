"""Targets: what is under test, found by its specification."""

from harness.targets.spec import TargetSpec, names, of_callable, resolve

__all__ = ["TargetSpec", "names", "of_callable", "resolve"]
