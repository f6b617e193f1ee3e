"""Before the second attempt the calls of the turn are carried out again."""

from __future__ import annotations

from harness.agent import build
from harness.agent.context_overflow import Ask, Compaction, Escalation
from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="overflow",
    statement="A retry after tool events runs side effects twice, in silence (AutoGPT #12413)",
    scenario="overflow-in-a-tool-loop",
    killed_by="effect_once.again",
)


class Replaying(Escalation):
    """Starts the turn again, tools and all."""

    def __init__(self, brief: Brief, compaction: Compaction) -> None:
        super().__init__(compaction)
        self._tools = {tool.name: tool for tool in brief.tools}

    def shrink(self, transcript: SessionTranscript, refusal: str, ask: Ask) -> bool:
        """Run what was run."""
        for message in transcript.messages:
            for call in message.tool_uses:
                self._tools[call.name].call(call.input, id=call.id)
        return super().shrink(transcript, refusal, ask)


def agent(brief: Brief) -> None:
    """The reference agent that does its work twice."""
    build(brief, overflow=lambda compaction: Replaying(brief, compaction)).run()
