"""Mutants: wrong agents, each the reference agent with one wrong part.

A module here has `agent(brief)` and `MUTANT`. A mutant is killed when the run of its scenario has
the mutant's own finding. That proves that the check can fail, and that the scenario shows the
defect.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import msgspec


class Mutant(msgspec.Struct, frozen=True):
    """What is wrong with a mutant.

    `breaks` names the part; `statement` describes the defect and names its source; `scenario` is
    the run that shows it (`NAME` or `NAME/VARIANT`); `killed_by` is the code of the finding.
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
