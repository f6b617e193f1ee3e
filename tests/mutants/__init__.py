"""Mutants: wrong agents, each the reference agent with one wrong part.

A file holds the mutants of one part: functions of a brief under `@mutant`, each by its own name. A
mutant whose classes others use is a module: it has `agent(brief)` and `MUTANT`. A mutant is killed
when the run of its scenario has the mutant's own finding. That proves that the check can fail, and
that the scenario shows the defect.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, TypeAlias, TypeVar

import msgspec

Agent: TypeAlias = Callable[..., Any]
_Marked = TypeVar("_Marked", bound=Agent)


class Mutant(msgspec.Struct, frozen=True):
    """What is wrong with a mutant.

    `breaks` names the part; `statement` describes the defect and names its source; `scenario` is
    the run that shows it (`NAME` or `NAME/VARIANT`); `killed_by` is the code of the finding.
    `look_alike` is a right agent that looks like it, if there is one beside the reference agent.
    """

    breaks: str
    statement: str
    scenario: str
    killed_by: str
    look_alike: Agent | None = None

    def is_shown_by(self, code: str) -> bool:
        """Whether a finding is the one that was made for it, which may name a whole check."""
        return self.killed_by in (code, code.partition(".")[0])


class WrongAgent(msgspec.Struct, frozen=True):
    """A mutant as others play it; `target` is what a command calls it."""

    mutant: Mutant
    agent: Agent
    target: str


def mutant(
    breaks: str, statement: str, scenario: str, killed_by: str, look_alike: Agent | None = None
) -> Callable[[_Marked], _Marked]:
    """Mark an agent as a mutant, by the name of the function."""
    said = Mutant(breaks, statement, scenario, killed_by, look_alike)

    def mark(agent: _Marked) -> _Marked:
        vars(agent)["MUTANT"] = said
        return agent

    return mark


def every() -> Iterator[tuple[str, Mutant, WrongAgent]]:
    """All mutants by name: name, description, and what is played."""
    for name, wrong in sorted(_known().items()):
        yield name, wrong.mutant, wrong


def named(name: str) -> WrongAgent:
    """The mutant of a name. Raises KeyError for an unknown one."""
    return _known()[name]


@cache
def _known() -> dict[str, WrongAgent]:
    modules = [
        importlib.import_module(f"{__name__}.{i.name}") for i in pkgutil.iter_modules(__path__)
    ]
    return {name: wrong for module in modules for name, wrong in _mutants_in(module)}


def _mutants_in(module: ModuleType) -> Iterator[tuple[str, WrongAgent]]:
    where = module.__name__
    if hasattr(module, "MUTANT"):
        said = msgspec.structs.replace(
            module.MUTANT, look_alike=getattr(module, "look_alike", None)
        )
        yield where.rpartition(".")[2], WrongAgent(said, module.agent, f"{where}:agent")
    for name, agent in vars(module).items():
        if isinstance(agent, FunctionType) and (said := vars(agent).get("MUTANT")):
            yield name, WrongAgent(said, agent, f"{where}:{name}")
