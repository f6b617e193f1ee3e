"""Of an object that a tool gives, the model reads the values."""

from __future__ import annotations

import json

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with, successes

MUTANT = Mutant(
    breaks="tools",
    statement="An object of a tool reaches the model as its values, without the names (unseen, A)",
    scenario="what-the-tools-said/a-value-with-large-numbers",
    killed_by="result_carried.names",
)


def _bare(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if not isinstance(value, dict):
        return text
    return ", ".join(json.dumps(each) for each in value.values())


def agent(brief: Brief) -> None:
    """The reference agent whose tools give rows and no columns."""
    play_with(brief, successes(_bare))
