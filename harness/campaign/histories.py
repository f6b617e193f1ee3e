"""Stored sessions: valid by construction, or a valid one with some damage.

A valid session is rounds of: the user says something, the assistant thinks, speaks and calls tools
in one or more steps, each call has its result in the next message, the assistant has the last word.
A round is one integer: its shape and its words. Damage is one integer for each kind of mutation
(`mutations`), so that the shrinker can take each away by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import strategies as st

from harness.campaign.mutations import MUTATIONS, Draft, History
from harness.campaign.words import WORDS, word
from harness.core.scenario import SeedMessage

SHAPES = ("s", "ts", "u", "su", "uu", "tu", "u u", "suuuu", "ru su", "S")
"""The assistant's steps in a round, apart by spaces: s says, S says in two blocks, t thinks, r
thinks in secret, u calls a tool. After a step with calls comes another one, if need be "s"."""

RESULTS = ("found", "", "not found", ({"type": "text", "text": "a"}, {"type": "text", "text": "b"}))

PLACES = 8
"""At how many places, from the end, a mutation may strike."""

_NEVER = 24
"""Of the numbers drawn for a mutation, those below this one leave the session as it is."""

_MUTATION = st.integers(0, _NEVER + PLACES - 1)
_ROUNDS = st.lists(st.integers(0, len(SHAPES) * len(WORDS) - 1), max_size=3)


@st.composite
def valid_histories(draw: st.DrawFn) -> tuple[SeedMessage, ...]:
    """Sessions of at most three rounds that every dialect accepts, once the user speaks again."""
    return _stored(_valid(draw(_ROUNDS)))


@st.composite
def histories(draw: st.DrawFn) -> tuple[SeedMessage, ...]:
    """Sessions of at most three rounds, valid or with mutations, at most one of each kind."""
    history = _valid(draw(_ROUNDS))
    for mutate in MUTATIONS:
        number = draw(_MUTATION)
        if number >= _NEVER:
            history = mutate(history, number - _NEVER)
    return _stored(history)


def _stored(history: History) -> tuple[SeedMessage, ...]:
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
