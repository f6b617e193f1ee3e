"""What a guard can decide, and how it escalates.

The order of the decisions is their weight: of several guards the heaviest decision counts.
"""

from __future__ import annotations

from collections import Counter
from typing import Protocol, TypeAlias

import msgspec

from harness.core.values.messages import Json, ToolResult, ToolUse, canonical


class Proceed(msgspec.Struct, frozen=True):
    """Nothing to say."""


class Guide(msgspec.Struct, frozen=True):
    """The call has run; `text` is added to its result."""

    text: str


class Refuse(msgspec.Struct, frozen=True):
    """The call is not run; `text` is its error result."""

    text: str


class EndTurn(msgspec.Struct, frozen=True):
    """No further call of this turn is run; `text` says why, to the model and to the user."""

    text: str


Decision: TypeAlias = Proceed | Guide | Refuse | EndTurn
_BY_WEIGHT: tuple[type, ...] = (Proceed, Guide, Refuse, EndTurn)


def heaviest(*decisions: Decision) -> Decision:
    """The decision that counts, the first of equals."""
    return max(decisions, key=lambda d: _BY_WEIGHT.index(type(d)), default=Proceed())


class Guard(Protocol):
    """Watches one turn; a new turn gets new guards. Inputs are the model's, before expansion."""

    def begin_step(self) -> None:
        """A new assistant message is about to be carried out; its calls are one batch."""
        ...

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Whether the call may run."""
        ...

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide | EndTurn:
        """What follows from the raw result of a call that ran."""
        ...


class Ladder:
    """Refusals, then the end of the turn: at most one rung up in a step.

    A batch of parallel calls is one thought of the model; it has not read the first refusal when
    it makes the second call, so the second must not weigh more.
    """

    def __init__(self, refusals: int) -> None:
        self._refusals = refusals
        self._rungs: Counter[str] = Counter()
        self._climbed: set[str] = set()

    def begin_step(self) -> None:
        """The model has read what was refused before."""
        self._climbed.clear()

    def rung(self, key: str) -> int:
        """How many steps have been refused for `key`."""
        return self._rungs[key]

    def refuse(self, key: str, refusal: str, end: str) -> Refuse | EndTurn:
        """Refuse with the text `refusal`, or end the turn with the text `end`."""
        if key not in self._climbed:
            self._climbed.add(key)
            self._rungs[key] += 1
        return EndTurn(end) if self._rungs[key] > self._refusals else Refuse(refusal)

    def reset(self, key: str) -> None:
        """The model has done better."""
        del self._rungs[key]


def said(result: ToolResult) -> str:
    """The words of a result; of one without any (a picture, bytes, nothing at all) its content."""
    blocks = result.content if isinstance(result.content, str | tuple) else ()
    words = msgspec.structs.replace(result, content=blocks).text
    return words or signature("", result.content)


def signature(name: str, input: Json) -> str:
    """The identity of a call: tool and arguments, whatever the order of their keys; none at all are
    `{}`, for so the tool is run.

    A value that is no JSON, half an emoji among it, is taken by its `repr`.
    """
    try:
        return f"{name}\x00{canonical({} if input is None else input)}"
    except (TypeError, ValueError, RecursionError):
        return f"{name}\x00{input!r}"
