"""A text of JSON is read into floats and written again, so that a long id is another one."""

from __future__ import annotations

import json

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with, successes

MUTANT = Mutant(
    breaks="tools",
    statement="A number over 2^53 passes through a float (modelcontextprotocol/go-sdk#1236)",
    scenario="what-the-tools-said/a-text-of-json",
    killed_by="result_carried.part",
)


def _parsed(text: str) -> str:
    try:
        return json.dumps(json.loads(text, parse_int=lambda digits: int(float(digits))))
    except ValueError:
        return text


def agent(brief: Brief) -> None:
    """The reference agent with tools behind a gateway whose numbers are all floats."""
    play_with(brief, successes(_parsed))
