"""Mutants: wrong agents, each the reference agent with one wrong part.

A module here has `agent(brief)` and `MUTANT`. A mutant is killed when the run of its scenario has
the finding that was made for it; that shows that the check can fail, and that the scenario brings
the defect out.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import msgspec


class Mutant(msgspec.Struct, frozen=True):
    """What is wrong with a mutant.

    `breaks` names the part, `statement` the defect in words with its source, `scenario` the run
    (`NAME` or `NAME/VARIANT`) that brings it out, `killed_by` the finding's code.
    """

    breaks: str
    statement: str
    scenario: str
    killed_by: str


def every() -> Iterator[tuple[str, Mutant, ModuleType]]:
    """All mutants: name, description and module."""
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        if hasattr(module, "MUTANT"):
            yield info.name, module.MUTANT, module
