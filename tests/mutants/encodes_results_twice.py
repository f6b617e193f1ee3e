"""Each result is JSON in JSON."""

from __future__ import annotations

import json

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with, successes

MUTANT = Mutant(
    breaks="tools",
    statement="A result is serialised by the tool's adapter and again by the model's",
    scenario="what-the-tools-said",
    killed_by="result_carried.encoded_twice",
)


def agent(brief: Brief) -> None:
    """The reference agent that encodes each text twice."""
    play_with(brief, successes(lambda text: json.dumps(json.dumps(text))))
