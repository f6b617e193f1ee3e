"""Stored sessions: valid by construction, or damaged by mutations. Pure.

One number is a round: a user message, the assistant's steps, a result for each call. A mutation has
one number, its place, so the shrinker can remove each alone. Places count from the end, so they
stay the same if earlier messages are removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Literal, NamedTuple, TypeAlias

from harness.core.scenario.scenario import SeedMessage
from harness.core.values.messages import Json
from harness.fuzz.choice_sequence import Choose, some, sometimes
from harness.fuzz.text_grammar import WORDS, marked, word

Block: TypeAlias = dict[str, Json]


class DraftMessage(NamedTuple):
    """A message of a scenario file in the making."""

    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...]


Drafts: TypeAlias = list[DraftMessage]
Mutation: TypeAlias = Callable[[Drafts, int], Drafts]


def drop_message(history: Drafts, place: int) -> Drafts:
    """Remove a message, as if it was never stored."""
    at = _from_end(place, len(history))
    return [*history[:at], *history[at + 1 :]]


def drop_block(history: Drafts, place: int) -> Drafts:
    """Remove one block of a message, which may leave it empty."""
    return _on_block(history, place, lambda block: True, lambda block: ())


def two_users(history: Drafts, place: int) -> Drafts:
    """Make two user messages in a row."""
    return _insert(history, place, DraftMessage("user", ({"type": "text", "text": "Hello?"},)))


def duplicate(history: Drafts, place: int) -> Drafts:
    """Store a message twice in a row."""
    at = _from_end(place, len(history))
    return [*history[: at + 1], *history[at:]]


def swap(history: Drafts, place: int) -> Drafts:
    """Swap two neighbouring messages."""
    if len(history) < 2:
        return history
    at = _from_end(place, len(history) - 1)
    return [*history[:at], history[at + 1], history[at], *history[at + 2 :]]


def blank_text(history: Drafts, place: int) -> Drafts:
    """Make a text blank."""
    blank: Block = {"type": "text", "text": " \n"}
    return _on_block(history, place, lambda b: b["type"] == "text", lambda b: (blank,))


def empty_content(history: Drafts, place: int) -> Drafts:
    """Remove all content of a message."""
    at = _from_end(place, len(history))
    emptied = [draft._replace(blocks=()) for draft in history[at : at + 1]]
    return [*history[:at], *emptied, *history[at + 1 :]]


def thinking_only(history: Drafts, place: int) -> Drafts:
    """Leave only thinking, as if the turn broke off."""
    thought: Block = {"type": "thinking", "text": "Hm.", "signature": "c2lnbmVk"}
    return _insert(history, place, DraftMessage("assistant", (thought,)))


def orphan_result(history: Drafts, place: int) -> Drafts:
    """Add a result without a call."""
    orphan: Block = {"type": "tool_result", "id": "gone_1", "content": "found"}
    return _insert(history, place, DraftMessage("user", (orphan,)))


def split_pair(history: Drafts, place: int) -> Drafts:
    """Put a user message between calls and their results; at the end if there are no calls."""
    calls = [n for n, d in enumerate(history) if any(b["type"] == "tool_use" for b in d.blocks)]
    between = DraftMessage("user", ({"type": "text", "text": "Wait."},))
    at = calls[_from_end(place, len(calls))] + 1 if calls else len(history)
    return [*history[:at], between, *history[at:]]


def duplicate_id(history: Drafts, place: int) -> Drafts:
    """Give every call and result the same id."""
    return [
        DraftMessage(d.role, tuple({**b, "id": "same"} if "id" in b else b for b in d.blocks))
        for d in history
    ]


def change_id(history: Drafts, place: int) -> Drafts:
    """Change the id of one call or one result."""
    return _on_block(history, place, lambda b: "id" in b, lambda b: ({**b, "id": "other_1"},))


MUTATIONS: tuple[Mutation, ...] = (
    *(drop_message, drop_block, two_users, duplicate, swap, blank_text),
    *(empty_content, thinking_only, orphan_result, split_pair, duplicate_id, change_id),
)
"""All mutations, in the order in which they are applied."""


def _from_end(place: int, count: int) -> int:
    """Return the index of a place among `count`; 0 if there are none."""
    return count - 1 - place % count if count else 0


def _insert(history: Drafts, place: int, draft: DraftMessage) -> Drafts:
    at = _from_end(place, len(history) + 1)
    return [*history[:at], draft, *history[at:]]


def _on_block(
    history: Drafts,
    place: int,
    fits: Callable[[Block], bool],
    change: Callable[[Block], tuple[Block, ...]],
) -> Drafts:
    """Replace one of the blocks that fit."""
    found = [(n, m) for n, d in enumerate(history) for m, b in enumerate(d.blocks) if fits(b)]
    if not found:
        return history
    n, m = found[_from_end(place, len(found))]
    role, blocks = history[n]
    blocks = (*blocks[:m], *change(blocks[m]), *blocks[m + 1 :])
    return [*history[:n], DraftMessage(role, blocks), *history[n + 1 :]]


SeedMessages: TypeAlias = tuple[SeedMessage, ...]

SHAPES = ("s", "ts", "u", "su", "uu", "tu", "u u", "suuuu", "ru su", "S")
"""The assistant's steps in a round, apart by spaces: s says, S says in two blocks, t thinks, r
thinks in secret, u calls a tool. After a step with calls comes another one, if need be "s"."""

RESULTS: tuple[object, ...] = (
    *(marked("found"), "", marked("not found")),
    [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
)

PLACES = 8
"""The number of places, from the end, at which a mutation may be applied."""

NEVER = 24
"""The weight of leaving a mutation out, relative to one of its places."""


def session_of(choose: Choose, max_rounds: int = 3, damaged: bool = True) -> SeedMessages:
    """Return a stored session of a few rounds; `damaged`: at most one mutation of each kind."""
    kinds = len(SHAPES) * len(WORDS)
    made = count(1)
    rounds = list(some(choose, kinds, max_rounds, mean=1.5))
    history = [draft for number in rounds for draft in _round(number, made)]
    for mutate in MUTATIONS if damaged else ():
        place = sometimes(choose, PLACES, NEVER)
        if place is not None:
            history = mutate(history, place)
    return tuple(SeedMessage(role=d.role, content=d.blocks) for d in history)


def _round(number: int, made: Iterator[int]) -> Iterator[DraftMessage]:
    words = number // len(SHAPES)
    steps = SHAPES[number % len(SHAPES)].split()
    yield DraftMessage("user", (_text(words),))
    for step in steps if "u" not in steps[-1] else [*steps, "s"]:
        blocks = tuple(b for letter in step for b in _blocks(letter, words, made))
        yield DraftMessage("assistant", blocks)
        calls = [b["id"] for b in blocks if b["type"] == "tool_use"]
        if calls:
            yield DraftMessage("user", tuple(_result(id, words + i) for i, id in enumerate(calls)))


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
            name, given = ("look_up", {"name": word(words)}) if words % 2 else ("ping", {})
            yield {"type": "tool_use", "id": f"old_{next(made)}", "name": name, "input": given}


def _text(number: int) -> dict[str, object]:
    return {"type": "text", "text": word(number)}


def _result(id: object, number: int) -> dict[str, object]:
    content = RESULTS[number % len(RESULTS)]
    return {"type": "tool_result", "id": id, "content": content, "is_error": number % 4 == 2}
