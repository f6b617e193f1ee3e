"""Kills between storing and the rest of the world, a cursor that is behind, and odd text."""

from __future__ import annotations

import pytest

from harness.agent import agent
from harness.core.history.events import Answered, Called, Effected, Killed
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.values.calls import OutboxRequest
from harness.faults.persistence.writes import SEPARATORS
from harness.runner import Run, run
from harness.targets import of_callable

AGAIN = "(I was interrupted while I sent this reply, so you may have it already.)\n\n"
UNKNOWN = "I do not know whether it was paid."

PAY = Scenario(
    name="between",
    tools={"pay": ToolScript(script=(ToolTurn(ok="paid", effect="payment", times="forever"),))},
    inbox=(InboxItem(id="m1", text="Pay order 1."), InboxItem(id="m2", text="Thank you.")),
    script=(Turn(use="pay", input={}), Turn(say="It is paid."), Turn(say="You are welcome.")),
)


def _run(*faults: FaultSpec, store: str = "sqlite") -> Run:
    scenario = Scenario(
        name=PAY.name, tools=PAY.tools, inbox=PAY.inbox, script=PAY.script, faults=faults
    )
    done = run(scenario, of_callable(agent, {"store": store}))
    assert [f"{f.code}: {f.message}" for f in done.verdict.findings] == []
    return done


def _sent(done: Run) -> list[str]:
    """What the outbox was asked to take, and took."""
    events = done.history.events
    taken = {e.key for e in events if isinstance(e, Answered) and e.complete}
    calls = [e for e in events if isinstance(e, Called) and e.key in taken]
    return [e.request.text for e in calls if isinstance(e.request, OutboxRequest)]


def _kills(done: Run) -> list[str]:
    return [event.at for event in done.history.events if isinstance(event, Killed)]


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
@pytest.mark.parametrize(
    ("kind", "sent"),
    [
        ("killed_before_delivery", [f"{AGAIN}It is paid.", "You are welcome."]),
        ("killed_after_delivery", ["It is paid.", f"{AGAIN}It is paid.", "You are welcome."]),
    ],
)
def test_a_stored_reply_is_sent_after_a_kill_with_a_word_that_it_may_be_there(
    store: str, kind: str, sent: list[str]
) -> None:
    done = _run(FaultSpec(kind=f"persistence.{kind}"), store=store)
    assert _sent(done) == sent
    assert _kills(done) == ["main/outbox#1"]


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
def test_killed_after_effect_pays_once(store: str) -> None:
    done = _run(FaultSpec(kind="persistence.killed_after_effect"), store=store)
    assert sum(isinstance(event, Effected) for event in done.history.events) == 1
    assert _kills(done) == ["main/tool#1"]


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
def test_stale_cursor_sends_a_delivered_reply_again_with_a_word(store: str) -> None:
    done = _run(
        FaultSpec(
            kind="persistence.killed_at_write",
            on="store:accept",
            when=2,
            settings={"point": "before"},
        ),
        FaultSpec(kind="persistence.stale_cursor", when=2),
        store=store,
    )
    assert _sent(done) == ["It is paid.", f"{AGAIN}It is paid.", "You are welcome."]
    fired = [kind for e in done.history.events if isinstance(e, Answered) for kind in e.faults]
    assert fired == ["persistence.killed_at_write", "persistence.stale_cursor"]


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
def test_line_separators_end_no_row(store: str) -> None:
    done = _run(
        FaultSpec(kind="persistence.line_separators", when=2),
        FaultSpec(kind="persistence.killed_at_write", on="store:accept", when=2),
        store=store,
    )
    said = f"It is paid.{SEPARATORS}end"
    assert _sent(done) == [said, "You are welcome."]
    notices = [e for e in done.history.events if isinstance(e, Called)]
    kinds = [e.request.kind for e in notices if isinstance(e.request, OutboxRequest)]
    assert kinds == ["final", "final"], "nothing of the file was left out when it was read again"
