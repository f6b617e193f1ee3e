"""Each compaction saves as little as it can."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.context_overflow import Ask, Compacted, Escalation, compact
from harness.agent.conversation.history_size import clip, estimate_tokens
from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, canonical, user
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="overflow",
    statement="A target just under the trigger compacts again at once (AutoGPT #12625)",
    scenario="overflow-in-a-tool-loop/fills-up-slowly",
    killed_by="compaction_progress",
)


class AtOnce(Escalation):
    """Compacts whenever it is told that the prompt is too long."""

    def shrink(self, transcript: SessionTranscript, refusal: str, ask: Ask) -> bool:
        """Begin with a compaction each time."""
        self._left, self._taken = ["compact"], []
        return super().shrink(transcript, refusal, ask)


def _barely(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    compacted = compact(messages, budget_tokens, ask, saves_enough=lambda *_: True)
    if compacted is None:
        return None
    told = "\n".join(canonical(message) for message in messages)
    spare = estimate_tokens(messages) * 9 // 10 - estimate_tokens(messages[-compacted.keep :])
    return Compacted(user(clip(told, max(spare, 1) * 4)), compacted.keep)


def agent(brief: Brief) -> None:
    """The reference agent without room after a compaction."""
    build(brief, overflow=AtOnce, compaction=_barely).run()
