"""A store that fails for a moment costs a wait; one that fails for good is told."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from harness.agent import agent
from harness.agent.sessions.transcript import STORE_WAITS_S, RetryingStore
from harness.core.history.events import Called
from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, Turn
from harness.core.values.calls import Inbound, OutboxRequest
from harness.core.values.messages import assistant, user
from harness.runner import Run, run
from harness.stores.sqlite import SqliteStore
from harness.targets import of_callable


class Flaky(SqliteStore):
    """Fails a given number of times."""

    failures = 0
    error: Exception = sqlite3.OperationalError("database is locked")

    def append(self, *arguments: Any, **named: Any) -> str:
        """Fail, or store."""
        if self.failures:
            self.failures -= 1
            raise self.error
        return super().append(*arguments, **named)


def _patient(tmp_path: Path, failures: int) -> tuple[Flaky, Any, list[float]]:
    store, waits = Flaky(tmp_path / "s.db"), list[float]()
    store.failures = failures
    return store, RetryingStore(store, waits.append), waits


@pytest.mark.parametrize("failures", range(len(STORE_WAITS_S) + 1))
def test_a_write_is_tried_again_after_each_wait(tmp_path: Path, failures: int) -> None:
    store, patient, waits = _patient(tmp_path, failures)
    assert patient.append("main", user("hi")) == "1"
    assert waits == list(STORE_WAITS_S[:failures])
    assert [row.message for row in store.rows("main")] == [user("hi")]


def test_a_write_that_fails_for_good_raises_what_the_store_says(tmp_path: Path) -> None:
    _, patient, waits = _patient(tmp_path, len(STORE_WAITS_S) + 1)
    with pytest.raises(sqlite3.OperationalError, match="database is locked"):
        patient.append("main", user("hi"))
    assert waits == list(STORE_WAITS_S)


def test_what_waiting_does_not_mend_is_raised_at_once(tmp_path: Path) -> None:
    store, patient, waits = _patient(tmp_path, 1)
    store.error = sqlite3.IntegrityError("no")
    with pytest.raises(sqlite3.IntegrityError):
        patient.append("main", user("hi"))
    assert waits == []


def test_everything_else_is_the_stores_own(tmp_path: Path) -> None:
    store, patient, _ = _patient(tmp_path, 0)
    assert patient.notes is store.notes
    assert patient.name == "sqlite"
    inbound = Inbound("m1", text="hi")
    assert patient.accept(inbound, user("hi")) is True
    patient.reply(inbound, assistant("yes"), "ok", kind="final")
    assert [pending.reply for pending in patient.pending()] == ["yes"]


def _lived(*faults: FaultSpec, store: str = "sqlite") -> Run:
    scenario = Scenario(
        name="failing-store",
        inbox=(InboxItem(id="m1", text="one"), InboxItem(id="m2", text="two")),
        script=(Turn(say="First."), Turn(say="Second.", optional=True)),
        faults=faults,
    )
    return run(scenario, of_callable(agent, {"store": store}))


def _said(done: Run) -> list[str]:
    requests = [e.request for e in done.history.events if isinstance(e, Called)]
    return [f"{r.kind}: {r.text}" for r in requests if isinstance(r, OutboxRequest)]


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
def test_a_delivery_that_cannot_be_noted_is_noted_with_the_next_message(store: str) -> None:
    fault = FaultSpec(
        kind="persistence.io_error", on="store:delivered", often=len(STORE_WAITS_S) + 1
    )
    done = _lived(fault, store=store)
    assert done.verdict.verdict == "pass"
    assert _said(done) == ["final: First.", "final: Second."]
    calls = [e.request for e in done.history.events if isinstance(e, Called)]
    noted = [r for r in calls if getattr(r, "operation", "") == "delivered"]
    assert len(noted) == len(STORE_WAITS_S) + 1 + 2


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
def test_a_reply_that_cannot_be_stored_is_not_claimed(store: str) -> None:
    fault = FaultSpec(kind="persistence.disk_full", on="store:reply", often=len(STORE_WAITS_S) + 1)
    done = _lived(fault, store=store)
    first, second = _said(done)
    assert first.startswith("error: The reply could not be stored, so it was dropped: ")
    assert second == "final: Second."
    assert [f.code for f in done.verdict.findings] == []


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
def test_a_history_that_cannot_be_read_ends_the_turn_and_no_more(store: str) -> None:
    fault = FaultSpec(kind="persistence.read_fails", on="store:load", often=len(STORE_WAITS_S) + 1)
    done = _lived(fault, store=store)
    first, second = _said(done)
    assert first.startswith("error: Something went wrong on our side")
    assert "the conversation could not be read" in first
    assert second == "final: First."
    assert [f.code for f in done.verdict.findings] == []


def test_a_store_that_cannot_be_read_at_the_start_is_asked_again_later() -> None:
    fault = FaultSpec(
        kind="persistence.read_fails", on="store:pending", often=len(STORE_WAITS_S) + 1
    )
    done = _lived(fault)
    assert _said(done) == ["final: First.", "final: Second."]
    assert done.verdict.verdict == "pass"


def claims(brief: Any) -> None:
    """Answer, and never look at what the store says."""
    client = brief.anthropic()
    for inbound in brief.inbox():
        request: Any = [{"role": "user", "content": inbound.text}]
        with suppress(sqlite3.OperationalError):
            brief.store.accept(inbound, user(inbound.text))
        said = client.messages.create(model="m", max_tokens=64, messages=request)
        brief.send(said.content[0].text, in_reply_to=inbound.id)


def test_an_agent_that_claims_success_on_a_full_disk_is_found() -> None:
    scenario = Scenario(
        name="claims",
        inbox=(InboxItem(id="m1", text="one"),),
        script=(Turn(say="First."),),
        faults=(FaultSpec(kind="persistence.disk_full", often="forever"),),
    )
    codes = {finding.code for finding in run(scenario, claims).verdict.findings}
    assert {"reload_equivalence.lost_inbound", "reload_equivalence.lost_reply"} <= codes
    assert {"durable_first.inbound", "durable_first.reply"} <= codes
