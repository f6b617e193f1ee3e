"""Which incidents the catalogue covers: the rows of `covered.tsv`.

An incident is covered when two facts hold for a run that names it. An agent with the incident's
defect gets a finding of a check, and the reference agent passes.
"""

from __future__ import annotations

import csv
import importlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from harness.core.values.brief import Brief
from harness.targets import TargetSpec
from tests import mutants

TABLE = Path(__file__).with_name("covered.tsv")


class Covered(msgspec.Struct, frozen=True):
    """A row of the table.

    `run` is the run that shows the defect, `agent` the wrong agent and `code` the finding that it
    gets. `agent` is a mutant of `tests.mutants`, or `FILE.FUNCTION` of `tests.catalogue.agents`.
    A row that is not `faithful` says in `reason` what the run does not show.
    """

    incident: int
    run: str
    agent: str
    code: str
    status: Literal["faithful", "partial", "none"]
    reason: str


@cache
def covered() -> dict[int, Covered]:
    """The rows by incident. A row that stands twice raises ValueError."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    rows = [msgspec.convert(line, Covered, strict=False) for line in lines]
    found = {row.incident: row for row in rows}
    if len(found) != len(rows):
        raise ValueError(f"{TABLE.name}: an incident stands twice")
    return found


def wrong_agent(name: str) -> Callable[[Brief], None] | TargetSpec:
    """The agent that a row names; a specification holds the profile that it claims."""
    file, _, function = name.partition(".")
    if not function:
        return mutants.named(name).agent
    agent: Callable[[Brief], None] | TargetSpec = getattr(
        importlib.import_module(f"tests.catalogue.agents.{file}"), function
    )
    return agent
