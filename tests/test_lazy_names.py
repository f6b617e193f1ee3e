"""Public names that are imported late: a module of the same name never stands in their place."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import pytest

PACKAGES = (
    "harness", "harness.adapters", "harness.agent", "harness.checks", "harness.contracts",
    "harness.faults", "harness.files", "harness.recordings", "harness.report", "harness.stores",
)  # fmt: skip


@pytest.mark.parametrize("name", PACKAGES)
def test_a_module_does_not_hide_a_public_name(name: str) -> None:
    package = import_module(name)
    assert package.__all__
    for public in package.__all__:
        listed = getattr(package, public)
        if isinstance(listed, ModuleType):
            assert not callable(getattr(listed, public, None)), public


def test_a_function_is_not_its_module_even_where_that_was_imported_first() -> None:
    judging = import_module("harness.checks.judge")
    assert import_module("harness.checks").judge is judging.judge
