"""Agents that lose, double or mix up what users write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.gateway import Gateway
from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.stores import Pending


class _KnownInMemory(Gateway):
    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._seen: set[str] = set()

    def receive(self, inbound: Inbound) -> None:
        """Take a message of a former life for a new one."""
        if inbound.id in self._seen:
            return
        self._seen.add(inbound.id)
        stored = any(row.inbound == inbound.id for row in self.store.rows(inbound.session))
        name = f"{inbound.id}-again" if stored else inbound.id
        super().receive(msgspec.structs.replace(inbound, id=name))


def knows_ids_in_memory(brief: Brief) -> None:
    """Keeps in memory alone how far the queue was read."""
    build(brief, gateway=_KnownInMemory).run()


class _Queueing(Gateway):
    def run(self) -> None:
        """Answer the first message, and mark the others as handled."""
        first, *others = self.brief.inbox()
        for inbound in others:
            self.transcript_of(inbound.session).open(inbound)
            self.brief.send("Queued.", "notice", inbound.session, inbound.id)
        self.receive(first)


def marks_what_it_queues_as_handled(brief: Brief) -> None:
    """Says "queued" to a message that comes while it is busy, and drops it."""
    build(brief, gateway=_Queueing).run()


class _Replacing(Gateway):
    def run(self) -> None:
        """Work on a message until the next one comes, and leave it for that one."""
        messages = iter(self.brief.inbox())
        inbound = next(messages, None)
        while inbound is not None:
            transcript = self.transcript_of(inbound.session)
            transcript.open(inbound)
            loop = self.loop_for(inbound, transcript)
            loop.step()
            newer = next(messages, None)
            if newer is None:
                self.settle(inbound, transcript, loop.run())
            inbound = newer


def replaces_the_turn(brief: Brief) -> None:
    """Throws the work on a message away when a new one comes."""
    build(brief, gateway=_Replacing).run()


class _Silenced(Loop):
    """A loop that is stopped when any user says so."""

    everybody: Callable[[str], bool]

    def check(self) -> None:
        """Stop for a cancel of whichever session."""
        own = self.is_cancelled
        self.is_cancelled = lambda: own() or self.everybody("bob")
        super().check()
        self.is_cancelled = own


def stops_for_everybody(brief: Brief) -> None:
    """Lets the cancel of one session stop the work of another."""
    kind = type("_Everybody", (_Silenced,), {"everybody": staticmethod(brief.cancelled)})
    build(brief, turn=kind).run()


class _TwoLoops(Gateway):
    """The old loop goes on after a start, and the message that comes again starts another."""

    old: list[tuple[Inbound, SessionTranscript, Loop]]

    def recover(self, pending: Pending) -> None:
        """Let the old loop go on beside what comes."""
        transcript = self.transcript_of(pending.inbound.session)
        transcript.resume(pending.inbound)
        loop = self.loop_for(pending.inbound, transcript)
        self.old = [(pending.inbound, transcript, loop)]

    def receive(self, inbound: Inbound) -> None:
        """Answer a redelivered message, even while another process works on it."""
        old, self.old = getattr(self, "old", []), []
        known = any(row.inbound == inbound.id for row in self.store.rows(inbound.session))
        again = msgspec.structs.replace(inbound, id=f"{inbound.id}-again")
        super().receive(again if known else inbound)
        for taken, transcript, loop in old:
            self.settle(taken, transcript, loop.run())


def lets_two_loops_answer(brief: Brief) -> None:
    """Resumes a turn whose message comes again, and answers both."""
    build(brief, gateway=_TwoLoops).run()


class _ResumesBeside(_TwoLoops):
    def recover(self, pending: Pending) -> None:
        """Begin with what was open, in a loop that nothing else knows of."""
        super().recover(pending)
        self.old[-1][-1].step()

    def receive(self, inbound: Inbound) -> None:
        """Work on a message at once, and let the old loop end after it."""
        old, self.old = getattr(self, "old", []), []
        Gateway.receive(self, inbound)
        for taken, transcript, loop in old:
            self.settle(taken, transcript, loop.run())


def resumes_beside_a_new_message(brief: Brief) -> None:
    """Resumes a turn after a start, and takes the next message into another loop."""
    build(brief, gateway=_ResumesBeside).run()
