"""Agents with a mistake that only a fault shows, and the scenario that they are swept in."""

from __future__ import annotations

from pathlib import Path

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.scenario.scenario import Scenario
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.files import load_scenarios

ONE_QUESTION = """\
name: one-question
inbox: Is it raining in Oslo?
tools:
  look:
    input_schema: {type: object, properties: {city: {type: string}}}
    script: [{ok: rain}]
script:
  - {use: look, input: {city: Oslo}}
  - {say: It rains.}
"""

SORRY_TWICE = "tests.sweep.agents:sorry_twice?client=plain"
CAREFUL = "reference?client=plain"


class TwoPaths(Gateway):
    """Sends the end of a failed turn on two paths."""

    def deliver(self, inbound: Inbound, outcome: Outcome) -> None:
        """Send a reply once, and an error twice."""
        if outcome.status == "failed":
            self.send(inbound, outcome)
        super().deliver(inbound, outcome)


def sorry_twice(brief: Brief) -> None:
    """Tells each failure twice."""
    build(brief, gateway=TwoPaths).run()


def one_question(folder: Path) -> Scenario:
    """The scenario, read from a file in the folder."""
    file = folder / "one-question.yaml"
    file.write_text(ONE_QUESTION, "utf-8")
    (scenario,) = load_scenarios(file)
    return scenario
