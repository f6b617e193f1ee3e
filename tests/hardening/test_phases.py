"""Each phase of `make hardening` names a function that is there and that something calls.

A phase stops a command at a function by its name, as text. After a function has moved, nothing
would stop there, which only the slow tier shows.
"""

from __future__ import annotations

import ast
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.documents import ROOT
from tests.hardening.phases import VERBS

POINTS = sorted({phase.point for verb in VERBS.values() for phase in verb.phases})


@pytest.mark.parametrize("point", POINTS)
def test_a_phase_names_a_function_that_is_called(point: str) -> None:
    module, name, _ = point.split(":")
    if module == "import":
        assert find_spec(name)
    elif module != "os":
        assert name in defined(module)
        assert name.rpartition(".")[2] in used()


def test_a_function_that_moved_or_that_nobody_calls_is_seen() -> None:
    assert "Transition.moved" not in defined("harness.core.transition.transition")
    assert "never_called_by_anyone" not in used()


def defined(module: str) -> set[str]:
    """The functions of a module and its classes, as a phase names them."""
    found = find_spec(module)
    assert found is not None
    tree = ast.parse(Path(str(found.origin)).read_text("utf-8"))
    classes = [("", tree), *((f"{c.name}.", c) for c in tree.body if isinstance(c, ast.ClassDef))]
    return {
        f"{owner}{each.name}"
        for owner, place in classes
        for each in place.body
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


@cache
def used() -> frozenset[str]:
    """The names that some code of the package reads: to call them, or to hand them on."""
    return frozenset(
        node.attr if isinstance(node, ast.Attribute) else node.id
        for path in ROOT.glob("harness/**/*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)
    )
