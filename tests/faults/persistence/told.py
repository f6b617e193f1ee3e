"""An agent that tells of its store, call by call, and never tries anything again; and a run of it.

What a store raises is told with its class, SQLite's name for it, and its words. So it can be read
from the history, also where the agent was killed in between.
"""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec

from harness.core.history.events import Answered, Called, Killed, Started
from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, SeedMessage, Session
from harness.core.values.calls import OutboxRequest
from harness.core.values.messages import assistant, user
from harness.runner import Run, run
from harness.targets import of_callable

STORED = Session(
    messages=(
        SeedMessage(role="user", content="one"),
        SeedMessage(role="assistant", content="two"),
        SeedMessage(role="user", content="three"),
        SeedMessage(role="assistant", content="four"),
    )
)


def teller(brief: Any) -> None:
    """Store four times for a message, read, and tell what came of each call."""
    try:
        store = brief.store
    except Exception as error:
        brief.send(f"open: {words(error)}", kind="notice")
        store = brief.store
    told = 0
    for inbound in brief.inbox():
        writes = (
            ("accept", (inbound, user(inbound.text))),
            ("append", ("main", assistant("Looking."))),
            ("reply", (inbound, assistant("Done."), "ok", "final")),
            ("delivered", (inbound,)),
        )
        for name, arguments in writes:
            _try(brief, name, getattr(store, name), *arguments)
        _try(brief, "load", store.load, "main")
        for note in store.notes[told:]:
            brief.send(f"note: {note}", kind="notice")
        told = len(store.notes)
        texts = [row.message.text for row in store.rows("main")]
        brief.send(", ".join(texts), kind="final", in_reply_to=inbound.id)


def _try(brief: Any, name: str, call: Any, *arguments: Any) -> None:
    try:
        call(*arguments)
    except Exception as error:
        brief.send(f"{name}: {words(error)}", kind="notice")


def words(error: Exception) -> str:
    """An exception as a program sees it."""
    name = f" {error.sqlite_errorname}" if hasattr(error, "sqlite_errorname") else ""
    kind = "sqlite3." if isinstance(error, sqlite3.Error) else ""
    return f"{kind}{type(error).__name__}{name}: {error}"


class Told(msgspec.Struct, frozen=True):
    """What the agent told: `met` on the way, `rows` in the end of each message's turn; which
    faults fired, where it was killed, and how long it all took."""

    met: tuple[str, ...]
    rows: tuple[str, ...]
    fired: tuple[str, ...]
    killed: tuple[str, ...]
    starts: int
    waited_ms: int


def tell(*specs: FaultSpec, store: str, messages: int = 1, stored: Session = STORED) -> Told:
    """The run of the agent on a kind of store under faults, in its own words."""
    return told(run(scenario(*specs, messages=messages, stored=stored), target(store)))


def target(store: str) -> Any:
    """The agent on a kind of store."""
    return of_callable(teller, {"store": store})


def scenario(*specs: FaultSpec, messages: int = 1, stored: Session = STORED) -> Scenario:
    """Messages to a stored session, under faults."""
    inbox = tuple(InboxItem(id=f"m{n}", text=f"message {n}") for n in range(1, messages + 1))
    return Scenario(name="told", session=stored, inbox=inbox, faults=specs)


def told(done: Run) -> Told:
    """What stands in the history."""
    events = done.history.events
    sent = [e.request for e in events if isinstance(e, Called)]
    outbox = [request for request in sent if isinstance(request, OutboxRequest)]
    return Told(
        met=tuple(r.text for r in outbox if r.kind == "notice"),
        rows=tuple(r.text for r in outbox if r.kind == "final"),
        fired=tuple(kind for e in events if isinstance(e, Answered) for kind in e.faults),
        killed=tuple(e.at for e in events if isinstance(e, Killed)),
        starts=sum(isinstance(e, Started) for e in events),
        waited_ms=events[-1].at_ms,
    )
