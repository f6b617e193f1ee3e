"""A request is made again although the user has read a part of the answer."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.gateway import Gateway
from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="loop",
    statement="The retry says again what the user has read (AutoGPT #12413, first draft)",
    scenario="overflow-shapes/stop-reason",
    killed_by="outbound_once.repeated",
)


class Unseen(list[str]):
    """What was shown, of which nothing counts."""

    def __bool__(self) -> bool:
        """Nothing was shown."""
        return False


class Eager(Gateway):
    """Shows every part of an answer at once, and does not remember it."""

    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Work with a loop that forgets what it has shown."""
        original = self.loop_for

        def loop_for(inbound: Inbound, transcript: SessionTranscript) -> Loop:
            loop: Any = original(inbound, transcript)
            loop.seen = Unseen()
            where = {"session": inbound.session, "in_reply_to": inbound.id}
            loop._show = partial(self.brief.send, kind="partial", **where)
            return loop  # type: ignore[no-any-return]

        self.loop_for = loop_for
        super().turn(inbound, transcript)
        self.loop_for = original


def agent(brief: Brief) -> None:
    """The reference agent that streams to the user, and retries all the same."""
    build(brief, gateway=Eager).run()
