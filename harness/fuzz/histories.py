"""Stored sessions: valid by construction, or a valid one with some damage.

A valid session is rounds of: the user says something, the assistant thinks, speaks and calls tools
in one or more steps, each call has its result in the next message, the assistant has the last word.
A round is one integer: its shape and its words. Damage is one integer for each kind of mutation
(`mutations`), so that the shrinker can take each away by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from harness.core.scenario.scenario import SeedMessage
from harness.fuzz.choose import Choose, some, sometimes
from harness.fuzz.mutations import MUTATIONS, Draft, History
from harness.fuzz.words import WORDS, word

Stored: TypeAlias = tuple[SeedMessage, ...]

SHAPES = ("s", "ts", "u", "su", "uu", "tu", "u u", "suuuu", "ru su", "S")
"""The assistant's steps in a round, apart by spaces: s says, S says in two blocks, t thinks, r
thinks in secret, u calls a tool. After a step with calls comes another one, if need be "s"."""

RESULTS: tuple[object, ...] = (
    *("found", "", "not found"),
    [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
)

PLACES = 8
"""At how many places, from the end, a mutation may strike."""

NEVER = 24
"""A mutation is left out so many times as often as it strikes at one of its places."""


def history_of(choose: Choose, max_rounds: int = 3, damaged: bool = True) -> Stored:
    """A stored session of a few rounds; `damaged`: with mutations, at most one of each kind."""
    kinds = len(SHAPES) * len(WORDS)
    history = _valid(list(some(choose, kinds, max_rounds, mean=1.5)))
    for mutate in MUTATIONS if damaged else ():
        place = sometimes(choose, PLACES, NEVER)
        if place is not None:
            history = mutate(history, place)
    return _stored(history)


def _stored(history: History) -> Stored:
    return tuple(SeedMessage(role=d.role, content=d.blocks) for d in history)


def _valid(rounds: Sequence[int]) -> History:
    made = _numbers()
    return [draft for number in rounds for draft in _round(number, made)]


def _numbers() -> Iterator[int]:
    number = 0
    while True:
        yield (number := number + 1)


def _round(number: int, made: Iterator[int]) -> Iterator[Draft]:
    words = number // len(SHAPES)
    steps = SHAPES[number % len(SHAPES)].split()
    yield Draft("user", (_text(words),))
    for step in steps if "u" not in steps[-1] else [*steps, "s"]:
        blocks = tuple(b for letter in step for b in _blocks(letter, words, made))
        yield Draft("assistant", blocks)
        calls = [b["id"] for b in blocks if b["type"] == "tool_use"]
        if calls:
            yield Draft("user", tuple(_result(id, words + i) for i, id in enumerate(calls)))


def _blocks(letter: str, words: int, made: Iterator[int]) -> Iterator[dict[str, object]]:
    match letter:
        case "s":
            yield _text(words + 1)
        case "S":
            yield from (_text(words + 1), _text(words + 2))
        case "t":
            yield {"type": "thinking", "text": word(words), "signature": "c2lnbmVk"}
        case "r":
            yield {"type": "thinking", "redacted": "c2VjcmV0"}
        case "u":
            given = {"name": word(words)} if words % 2 else {}
            yield {"type": "tool_use", "id": f"old_{next(made)}", "name": "ping", "input": given}


def _text(number: int) -> dict[str, object]:
    return {"type": "text", "text": word(number)}


def _result(id: object, number: int) -> dict[str, object]:
    content = RESULTS[number % len(RESULTS)]
    return {"type": "tool_result", "id": id, "content": content, "is_error": number % 4 == 2}
