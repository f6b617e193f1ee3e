"""A mark is written at once, and in front of the next call where a call is being decided."""

from __future__ import annotations

from typing import Any

import harness
from harness.clock import VirtualClock
from harness.core.history.events import Called, Marked
from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, Turn
from harness.core.values.mark_kinds import Mark
from harness.runner import prepare
from harness.runner.mark_log import MarkLog
from harness.targets import resolve
from harness.transports.dispatcher import Dispatcher

ONE = Scenario(name="one", inbox=(InboxItem(text="One?"),), script=(Turn(say="One."),))


def _dispatcher() -> Dispatcher:
    transition = prepare.transition_for(ONE)
    prepare.start(transition, resolve("reference"), "simulate", 0, store=False)
    return Dispatcher(transition, VirtualClock(0, limit_s=60, seed=1))


def _kinds(dispatcher: Dispatcher) -> list[str]:
    events = dispatcher.transition.history.events
    return [type(event).__name__ for event in events if isinstance(event, (Marked, Called))]


def test_a_mark_under_the_lock_of_the_run_is_written_before_the_next_call() -> None:
    """A handler of a signal makes one while its own thread holds the lock."""
    dispatcher = _dispatcher()
    log = MarkLog(dispatcher)
    with dispatcher.lock:
        log.take(Mark("reachable", "in a handler", True))
        assert _kinds(dispatcher) == []
    dispatcher.next_inbound()
    log.take(Mark("reachable", "at once", True))
    assert _kinds(dispatcher) == ["Marked", "Called", "Marked"]
    assert log.knows("reachable", "at once", True)
    assert not log.knows("reachable", "in a handler", True)  # that was before the turn


def test_marks_that_another_wrote_stand_before_the_call_that_came_after_them() -> None:
    written = [Mark("always", "a", True)]

    def read() -> list[Mark]:
        found, written[:] = written[:], []
        return found

    dispatcher = _dispatcher()
    MarkLog(dispatcher, read)
    dispatcher.next_inbound()
    assert _kinds(dispatcher) == ["Marked", "Called"]


def test_each_life_keeps_the_marks_before_its_kill() -> None:
    def agent(brief: Any) -> None:
        harness.reachable("begins")
        for message in brief.inbox():
            harness.reachable("takes")
            client = brief.anthropic()
            said = [{"role": "user", "content": message.text}]
            reply = client.messages.create(model="any", max_tokens=500, messages=said)
            brief.send(reply.content[0].text, in_reply_to=message.id)

    kill = FaultSpec(kind="gateway.killed", when=1)
    scenario = Scenario(name="killed", inbox=ONE.inbox, script=ONE.script, faults=(kill,), seed=3)
    done = harness.run(scenario, agent)
    names = [e.name if isinstance(e, Marked) else type(e).__name__ for e in done.history.events]
    assert names.index("takes") < names.index("Killed")
    assert names.index("begins") < names.index("takes")
