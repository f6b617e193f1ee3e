"""Agents of other policies, each within what `docs/checks.md` allows, pass the catalogue too.

How often one tries again is no defect. Nor is it when an agent asks no more, or asks the model for
no last word, as long as it tells its user the truth.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.composition import standard_model
from harness.agent.sessions import turn_outcome as ends
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.turn_policy import Policy
from harness.core.scenario.scenario import Scenario
from harness.core.values.brief import Brief
from harness.runner import run
from tests.scenarios.all_runs import all_runs, named, tiers


class SaysNothingMore(Loop):
    """Ends a turn without asking the model for a last word."""

    def conclude(self, reason: str) -> Outcome:
        """The turn is over."""
        return ends.concluded(None, reason)


def _with(parts: dict[str, Any], brief: Brief) -> None:
    build(brief, **parts).run()


def _tries(attempts: int, brief: Brief) -> None:
    def adapt(client: Any) -> Any:
        return client.with_options(max_retries=attempts - 1)

    # A broken stream is tried again by the loop, beyond the attempts of the SDK.
    policy = Policy(retries={"broken_stream": 1} if attempts < 6 else {})
    build(brief, model=standard_model(brief, adapt), policy=policy).run()


AGENTS: dict[str, Callable[[Brief], None]] = {
    "two-empty-answers": partial(_with, {"policy": Policy(max_empty_answers=2)}),
    "no-empty-answer": partial(_with, {"policy": Policy(max_empty_answers=0)}),
    "two-broken-streams": partial(_with, {"policy": Policy(retries={"broken_stream": 2})}),
    "no-broken-stream": partial(_with, {"policy": Policy(retries={})}),
    "two-attempts": partial(_tries, 2),
    "four-attempts": partial(_tries, 4),
    "six-attempts": partial(_tries, 6),
    "no-last-word": partial(_with, {"turn": SaysNothingMore}),
}

QUICK = [
    *("empty-end-of-turn", "stuck-for-good+stream", "reconnecting-five-of-five+stream"),
    *("overloaded/for-a-moment", "nothing-said-once", "circles/next-turn-is-fresh"),
]


@pytest.mark.parametrize("policy", AGENTS)
@pytest.mark.parametrize("scenario", tiers(list(all_runs()), [named(name) for name in QUICK]))
def test_an_agent_of_another_policy_passes(scenario: Scenario, policy: str) -> None:
    def agent(brief: Brief) -> None:
        AGENTS[policy](brief)

    verdict = run(scenario, agent).verdict
    assert [f"{f.code}: {f.message}" for f in verdict.findings] == []
    assert verdict.verdict in ("pass", "not_applicable")
