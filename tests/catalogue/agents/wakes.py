"""Agents that wake themselves, or are woken more often than there is news."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import msgspec

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.gateway import Gateway
from harness.agent.models.model_call import ModelAnswer
from harness.agent.sessions.transcript import SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import ToolUse, user


class _Plugin(Loop):
    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """Put in a message of the user's wherever the assistant has the last word."""
        self.transcript.append(answer.message)
        self.transcript.append(user("continue from previous state"))
        return None


def continues_behind_each_answer(brief: Brief) -> None:
    """Takes an answer at the end of the history for a turn that was cut off."""
    build(brief, turn=_Plugin, policy=Policy(max_model_calls=500)).run()


def works_on_behind_the_stop(brief: Brief) -> None:
    """Confirms a stop, and goes on with the turn in the background."""

    class Confirming(Loop):
        is_told = False

        def check(self) -> None:
            """Tell the user that the turn is stopped."""
            if self.is_cancelled() and not self.is_told:
                self.is_told = True
                brief.send("Stopped.", "notice")

        def refusal_of(self, call: ToolUse, earlier: Sequence[ToolUse]) -> None:
            """Refuse nothing."""

    build(brief, turn=Confirming).run()


class _Finished(Gateway):
    """Notes an id when its turn has ended, and looks for messages while it works."""

    def run(self) -> None:
        """Take messages until there are no more."""
        self.finished: set[str] = set()
        self.taken: deque[Inbound] = deque()
        self.messages = iter(self.brief.inbox())
        while self.taken or self.look():
            inbound = self.taken.popleft()
            known = any(row.inbound == inbound.id for row in self.store.rows(inbound.session))
            self.receive(
                msgspec.structs.replace(inbound, id=f"{inbound.id}-again") if known else inbound
            )
            self.finished.add(inbound.id)

    def look(self) -> bool:
        """Take the next message, unless its turn has ended; False when there is none."""
        for inbound in self.messages:
            if inbound.id not in self.finished:
                self.taken.append(inbound)
                return True
        return False

    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Work on one message, and look for others."""
        loop = self.loop_for(inbound, transcript)
        outcome = loop.step()
        if outcome is None:
            self.look()
            outcome = loop.run()
        self.settle(inbound, transcript, outcome)


def notes_ids_at_the_end(brief: Brief) -> None:
    """Knows a message again only when its turn has ended."""
    build(brief, gateway=_Finished).run()
