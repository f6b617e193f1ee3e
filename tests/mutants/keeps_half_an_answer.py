"""What came of an answer that broke off is stored, and the model is asked again."""

from __future__ import annotations

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.sessions.transcript import RowTranscript
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, assistant
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="loop",
    statement="A partial message of a failed stream enters the history (incidents 8, 160)",
    scenario="answer-breaks-off+stream",
    killed_by="stream_error_handled.stored",
)


class Keeping(RowTranscript):
    """A transcript with rows that the turn does not see."""

    def keep(self, message: Message) -> None:
        """Store a message for the next turn."""
        self._store.append(self._session, message)


class Thrifty(Loop):
    """Throws nothing away."""

    def ask(self, query: Query) -> ModelAnswer:
        """Ask, and note what comes."""
        self.came: list[str] = []
        return super().ask(query)

    def show(self, text: str) -> None:
        """Note a part of the answer."""
        self.came.append(text)
        super().show(text)

    def recover(self, failure: ModelFailure, times: int) -> None:
        """Keep what came, as if it were an answer."""
        if failure.kind == "broken_stream" and self.came:
            assert isinstance(self.transcript, Keeping)
            self.transcript.keep(assistant("".join(self.came)))
        super().recover(failure, times)


def agent(brief: Brief) -> None:
    """The reference agent that keeps parts of answers."""
    build(brief, turn=Thrifty, transcript=Keeping).run()
