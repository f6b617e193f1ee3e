"""The validator's memory: the states of one session's last request, one for each message.

A message of the reader is one row. One of a recording may hold several results at once, as other
wires have it; it counts as the rows that this wire would make of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.core.transition.ports import Violation
from harness.core.values.messages import Message
from harness.providers.openai_chat.blocks import rows
from harness.providers.openai_chat.rules import rules_of
from harness.providers.openai_chat.validator import State, finish, step

_EMPTY = State()


class Fold:
    """The fold of the rules over a list of messages that grows at its end."""

    def __init__(self, dialect: str) -> None:
        self.active = rules_of(dialect)
        self._states: list[State] = []

    @property
    def state(self) -> State:
        """The state after the last message."""
        return self._states[-1] if self._states else _EMPTY

    def rewind(self, keep: int) -> None:
        """Forget all but the first `keep` messages."""
        del self._states[keep:]

    def extend(self, messages: Sequence[Message]) -> None:
        """Take in the messages that follow."""
        state = self.state
        for message in messages:
            for row in rows(message):
                state = step(state, row, self.active)
            self._states.append(state)

    def finish(self) -> tuple[Violation, ...]:
        """The violations of the list, if it ends here."""
        return finish(self.state, self.active)


def refuse(messages: Sequence[Message], dialect: str) -> tuple[Violation, ...]:
    """What the dialect refuses in a request of these messages, first one first."""
    fold = Fold(dialect)
    fold.extend(messages)
    return fold.finish()
