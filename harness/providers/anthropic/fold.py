"""The validator's memory: the states of one session's last request, one for each message.

Call ids stand in one map for the whole request, not in every state; going back takes out the ids
of the dropped messages, so the work follows what changed, never the length of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat

from harness.core.transition.ports import Violation
from harness.core.values.messages import Message
from harness.providers.anthropic.ending import finish
from harness.providers.anthropic.fields import Said
from harness.providers.anthropic.notes import Notes
from harness.providers.anthropic.rules import rules_of
from harness.providers.anthropic.validator import State, step

_EMPTY = State()
_NOTHING = repeat(None)


class Fold:
    """The fold of the rules over a list of messages that grows at its end."""

    def __init__(self, dialect: str) -> None:
        self.active = rules_of(dialect)
        self._states: list[State] = []
        self._state = _EMPTY
        self._first: dict[str, int] = {}

    def rewind(self, keep: int) -> None:
        """Forget all but the first `keep` messages."""
        while len(self._states) > keep:
            state = self._states.pop()
            for id_ in state.ids:
                if self._first.get(id_) == len(self._states):
                    del self._first[id_]
        self._state = self._states[-1] if self._states else _EMPTY

    def extend(self, messages: Sequence[Message], noted: Iterable[Notes | None] = _NOTHING) -> None:
        """Take in the messages that follow, with what is noted of each, if that is known."""
        states, state = self._states, self._state
        for message, note in zip(messages, noted, strict=False):
            index = len(states)
            state = step(state, index, message, self._first, self.active, note)
            states.append(state)
            for id_ in state.ids:
                self._first.setdefault(id_, index)
        self._state = state

    def finish(self, last: Message | None, said: Said | None = None) -> tuple[Violation, ...]:
        """The violations of the list, if it ends here with the message `last`."""
        return finish(self._state, last, self.active, len(self._states), said)

    @property
    def size_bytes(self) -> int:
        """The size of all messages."""
        return self._state.size_bytes


def refuse(messages: Sequence[Message], dialect: str) -> tuple[Violation, ...]:
    """What the dialect refuses in a request of these messages, first one first.

    The list is a request: one that ends with the assistant is a prefill.
    """
    fold = Fold(dialect)
    fold.extend(messages)
    return fold.finish(messages[-1] if messages else None)
