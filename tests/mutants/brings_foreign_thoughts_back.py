"""What the second provider thought goes to the first one, as if it had signed it."""

from __future__ import annotations

from typing import Any

from examples.agents import fallback
from examples.agents.anthropic_rows import Row, text_of
from examples.agents.fallback import FallbackAgent
from harness import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="After a time at another provider, its thoughts are sent back (hermes-agent#24401)",
    scenario="thoughts-that-come-back",
    killed_by="valid_request.V16",
)

look_alike = fallback.agent


class Wrong(FallbackAgent):
    """Keeps the thought of an answer, and sends it with the words."""

    def __init__(self, brief: Brief) -> None:
        super().__init__(brief)
        self.thoughts: dict[str, str] = {}

    def row_of_chat(self, answer: Any) -> Row:
        """The answer; its thought is kept by its words."""
        row = super().row_of_chat(answer)
        thought = getattr(answer.choices[0].message, "reasoning_content", None)
        self.thoughts[text_of(row["content"])] = thought or "They ask for the day."
        return row

    def request(self) -> Row:
        """The request, with each thought before its words."""
        made = super().request()
        for message in made["messages"]:
            thought = self.thoughts.get(text_of(message["content"]))
            if message["role"] == "assistant" and thought and not self.route.is_away:
                block = {"type": "thinking", "thinking": thought, "signature": "b2s="}
                message["content"] = [block, *message["content"]]
        return made


def agent(brief: Brief) -> None:
    """The careful agent with a second provider, and that."""
    Wrong(brief).run()
