"""What an agent meets of each fault of a question to the user, in Python and over HTTP."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from harness import ApprovalTurn, Brief, FaultSpec, InboxItem, Scenario, ToolScript, Turn, run
from harness.agent import agent as reference
from harness.core.values.calls import Approval
from harness.core.values.plans import Answer, Plan, Raise
from harness.faults import faults
from tests.transports.world import loopback, met, transition

KINDS = [kind for kind in faults() if kind.startswith("approvals.")]
TOOLS = {
    "pay": ToolScript(approval=(ApprovalTurn(), ApprovalTurn(answer="deny", reason="Not now.")))
}
MET: dict[str, list[tuple[str, str, int]]] = {
    "approvals.late": [("a", "allow", 3_600_000), ("b", "deny", 0), ("b", "deny", 0)],
    "approvals.expires": [("a", "expired", 900_000), ("b", "deny", 0), ("b", "deny", 0)],
    "approvals.about_another_call": [
        ("call_of_another", "allow", 0),
        ("b", "deny", 0),
        ("b", "deny", 0),
    ],
    "approvals.answered_twice": [("a", "allow", 0), ("a", "allow", 0), ("b", "deny", 0)],
    "approvals.channel_fails": [("", "no answer", 30_000), ("b", "allow", 0), ("b", "allow", 0)],
}


def _scenario(kind: str, **settings: Any) -> Scenario:
    when = 2 if kind.endswith("twice") else 1
    return Scenario(
        name="asks",
        policy="open",
        tools=TOOLS,
        inbox=(InboxItem(text="Pay."),),
        script=(
            Turn(use="pay", input={"sum": 1}, optional=True),
            Turn(use="pay", input={"sum": 1}, optional=True),
            Turn(say="Done.", optional=True),
        ),
        faults=(FaultSpec(kind=kind, when=when, settings=settings, must_fire=False),),
    )


@pytest.mark.parametrize("kind", MET)
def test_what_an_agent_meets(kind: str) -> None:
    met: list[tuple[str, str, int]] = []

    def agent(brief: Brief) -> None:
        for _ in brief.inbox():
            for name in ("a", "b", "b"):
                before = brief.clock.now_ms()
                try:
                    said = brief.ask("pay", {"sum": 1}, id=name)
                    met.append((said.id, said.answer, brief.clock.now_ms() - before))
                except TimeoutError:
                    met.append(("", "no answer", brief.clock.now_ms() - before))

    run(_scenario(kind), agent)
    assert met == MET[kind]


@pytest.mark.parametrize(
    ("kind", "settings"),
    [*((kind, {}) for kind in KINDS), ("approvals.killed_while_open", {"answered": True})],
)
def test_the_reference_agent_survives(kind: str, settings: dict[str, Any]) -> None:
    played = run(_scenario(kind, **settings), reference)
    assert played.verdict.verdict == "pass", played.verdict.findings
    assert len(played.history.trace.executions) <= 1


@pytest.mark.parametrize(
    ("plan", "seen"),
    [
        ((Answer(Approval("call_of_another")),), "call_of_another"),
        ((Raise("timeout", "the channel to the user does not answer"),), "ReadTimeout"),
    ],
)
def test_over_http(plan: Plan, seen: str) -> None:
    with loopback(transition(tools=TOOLS, on="approval", bend=lambda _: plan)) as server:
        asked = {"tool": "pay", "id": "a", "input": {}}
        answers: list[Any] = []

        timeout_s = 1 if seen == "ReadTimeout" else 60

        def ask() -> None:
            said = httpx2.post(server.urls.approvals, json=asked, timeout=timeout_s)
            answers.append(said.json()["id"])

        assert (met(ask) if seen == "ReadTimeout" else ask() or answers[0]) == seen
