"""The protocol of guards: their decisions, and the joint decision of the guards of one turn.

The strictest decision of several guards counts. A refused call has no result that a guard could
count, so `Watch` counts the refusals. Otherwise a model that repeats the call would spend the whole
budget.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import msgspec

from harness.core.values.messages import Json, ToolResult, ToolSpec, ToolUse, canonical


class Proceed(msgspec.Struct, frozen=True):
    """The guard has no objection."""


class Guide(msgspec.Struct, frozen=True):
    """The call has run; `text` is added to its result."""

    text: str


class Refuse(msgspec.Struct, frozen=True):
    """The call is not run; `text` is its error result."""

    text: str


class EndTurn(msgspec.Struct, frozen=True):
    """No further call of this turn is run; `text` gives the reason to the model and to the user."""

    text: str


Decision: TypeAlias = Proceed | Guide | Refuse | EndTurn
_BY_WEIGHT: tuple[type, ...] = (Proceed, Guide, Refuse, EndTurn)


def heaviest(*decisions: Decision) -> Decision:
    """The strictest decision; the first one of equals."""
    return max(decisions, key=lambda d: _BY_WEIGHT.index(type(d)), default=Proceed())


class Guard(Protocol):
    """Watches one turn; a new turn gets new guards. Inputs are those of the model, before
    expansion."""

    def begin_step(self) -> None:
        """Start a new assistant message; its calls are one batch."""

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Whether the call may run."""

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide | EndTurn:
        """The decision after the raw result of a call that ran."""


class Ladder:
    """Refusals, then the end of the turn: at most one rung up in a step.

    The model makes parallel calls before it reads the first refusal. So a second call of the same
    batch must not climb the ladder.
    """

    def __init__(self, refusals: int) -> None:
        self._refusals = refusals
        self._rungs: Counter[str] = Counter()
        self._climbed: set[str] = set()

    def begin_step(self) -> None:
        """Start a new step: the model has read the earlier refusals."""
        self._climbed.clear()

    def rung(self, key: str) -> int:
        """The number of refused steps for `key`."""
        return self._rungs[key]

    def refuse(self, key: str, refusal: str, end: str) -> Refuse | EndTurn:
        """Refuse with the text `refusal`, or end the turn with the text `end`."""
        if key not in self._climbed:
            self._climbed.add(key)
            self._rungs[key] += 1
        return EndTurn(end) if self._rungs[key] > self._refusals else Refuse(refusal)

    def reset(self, key: str) -> None:
        """Clear the count of `key` after a proper call."""
        del self._rungs[key]


class Watch:
    """Calls every guard, so that each can count, and returns the strictest decision.

    `refusals` is the number of refused steps in a row for one tool, and for one call that has not
    run since. The next such call ends the turn.
    """

    def __init__(self, guards: Sequence[Guard], refusals: int = 4) -> None:
        self._guards = tuple(guards)
        self._ladder = Ladder(refusals)

    def begin_step(self) -> None:
        """Start a new assistant message."""
        self._ladder.begin_step()
        for guard in self._guards:
            guard.begin_step()

    def before(self, call: ToolUse) -> Decision:
        """Whether the call may run."""
        decision = heaviest(*[guard.before(call) for guard in self._guards])
        keys = (call.name, *_identity(call))
        if isinstance(decision, Refuse):
            end = f"{call.name} was refused again and again: {decision.text}"
            return heaviest(*[self._ladder.refuse(key, decision.text, end) for key in keys])
        if isinstance(decision, Proceed):
            for key in keys:
                self._ladder.reset(key)
        return decision

    def after(self, call: ToolUse, result: ToolResult) -> Decision:
        """The decision after a result; the guidance of all guards is one text."""
        decisions: list[Decision] = [guard.after(call, result) for guard in self._guards]
        worst = heaviest(*decisions)
        if isinstance(worst, Guide):
            return Guide("\n".join(d.text for d in decisions if isinstance(d, Guide)))
        return worst


def _identity(call: ToolUse) -> tuple[str, ...]:
    """A call's identity beside its tool; empty for an empty call, because any complete call
    replaces it."""
    return () if is_empty(call.input) else (signature(call.name, call.input),)


def result_words(result: ToolResult) -> str:
    """The text of a result; for a result without text (a picture, bytes, empty), its content as
    JSON."""
    blocks = result.content if isinstance(result.content, str | tuple) else ()
    words = msgspec.structs.replace(result, content=blocks).text
    return words or signature("", result.content)


def signature(name: str, input: Json) -> str:
    """The identity of a call: tool and arguments, in any order of keys.

    A call without arguments counts as `{}`, because the tool is run with that. A value that cannot
    be written as JSON, such as half an emoji, is replaced by its `repr`.
    """
    try:
        return f"{name}\x00{canonical({} if input is None else input)}"
    except (TypeError, ValueError, RecursionError):
        return f"{name}\x00{input!r}"


UNPARSED = "__unparsedToolInput"
"""The key for arguments that were not a complete JSON object, as in Claude Code."""


def is_unparsed(input: Json) -> bool:
    """Whether an input is the wrapper of arguments that were cut off."""
    return isinstance(input, dict) and UNPARSED in input


def cut_off(call: ToolUse) -> ToolUse:
    """Mark a call whose reply did not stop for tool use, so its arguments may be incomplete."""
    return msgspec.structs.replace(call, input={UNPARSED: call.input})


def is_empty(input: Json) -> bool:
    """Whether a call has no arguments: `{}`, none, or only arguments that were cut off."""
    return not input or is_unparsed(input)


def bare_name(name: str) -> str:
    """A tool's own name: `mcp__files__write` is `write`."""
    parts = name.split("__", 2)
    return parts[2] if len(parts) == 3 and parts[0] == "mcp" else name


def needed_by(tools: Sequence[ToolSpec]) -> Callable[[str], tuple[str, ...]]:
    """The required inputs of each tool, by its bare or prefixed name; empty for an unknown tool."""
    needs = {bare_name(tool.name): tool.required for tool in tools}
    needs |= {tool.name: tool.required for tool in tools}
    return lambda name: needs.get(name, needs.get(bare_name(name), ()))
