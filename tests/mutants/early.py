"""Not a mutant: a loop that compacts in good time, as the wrong ones among its kind need it."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent.agent_loop import Loop
from harness.agent.models.model_call import Query
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.messages import Message, ToolUse, user

TASK = "Summarise the conversation."


class Early(Loop):
    """Asks for a summary whenever tools have run; what it does with it is up to others."""

    def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
        """Run the calls, then shorten the history; a turn that is cancelled asks for nothing."""
        outcome = super().execute(calls)
        if outcome is None and not self.is_cancelled():
            asked = Query((user(TASK),), purpose="compact", system="You summarise.")
            self.shorten(self.model.query(asked).message.text)
        return outcome

    def shorten(self, summary: str) -> None:
        """Put a summary, with what the user asks, in place of all but the last two messages."""
        if summary.strip():
            asked = [m for m in self.transcript.messages if m.role == "user" and m.text]
            words = (user(summary).blocks[0], *asked[-1].blocks)
            self.transcript.compact(Message("user", words), keep=2)
