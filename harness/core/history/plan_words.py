"""A plan in words: how the history tells what a door carried out, without the bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from harness.core.values.plans import (
    DATA,
    Close,
    Effect,
    Jump,
    Kill,
    Plan,
    Raise,
    Send,
    Step,
    Wait,
    only_sends,
)

LINES_MOST = 40
"""How many lines tell of a plan."""

_MESSAGE_MOST = 500
"""How many characters tell what a tool raised; what it raised is its result, and may be long."""


def summary(plan: Plan) -> tuple[str, ...]:
    """The plan in words for the history: runs of sends are one line with their size.

    Of a plan with very many steps, as of a body byte by byte, the sums are told.
    """
    if plan and only_sends(plan):
        return (words_of_sends(plan),)
    lines: list[str] = []
    for kind, run in groupby(plan, type):
        if kind is Send:
            lines.append(words_of_sends([step for step in run if isinstance(step, Send)]))
        else:
            lines.extend(map(_words, run))
    return tuple(lines) if len(lines) <= LINES_MOST else tuple(_summed(plan))


def _summed(plan: Plan) -> Iterator[str]:
    """All waits as one, all sends as one, and the other steps in their order."""
    if wait_ms := sum(step.ms for step in plan if isinstance(step, Wait)):
        yield _words(Wait(wait_ms))
    if sends := [step for step in plan if isinstance(step, Send)]:
        yield words_of_sends(sends)
    yield from (_words(step) for step in plan if not isinstance(step, (Wait, Send)))


def waited_ms(steps: Sequence[str]) -> int:
    """How long a plan waits, from its words."""
    waits = (step.split(" ") for step in steps if step.startswith("wait "))
    return sum(int(words[1]) for words in waits)


def words_of_sends(sends: Sequence[Send]) -> str:
    """Sends without anything between them, in words."""
    return f"send {len(sends)} ({sum(map(len, map(DATA, sends)))} bytes)"


def _words(step: Step) -> str:
    match step:
        case Wait(ms):
            return f"wait {ms} ms"
        case Close(reset):
            return "reset" if reset else "close"
        case Raise("tool", message) if message:
            return f"raise tool: {message[:_MESSAGE_MOST]}"
        case Raise(error):
            return f"raise {error}"
        case Effect(name):
            return f"effect {name}"
        case Jump(wall_ms, monotonic_ms):
            return f"jump {wall_ms} ms" + (f", {monotonic_ms} ms monotonic" if monotonic_ms else "")
        case Kill(unsynced):
            return "kill" if unsynced == "kept" else f"kill, unsynced {unsynced}"
        case _:
            return "answer"
