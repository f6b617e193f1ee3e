"""The work of a campaign as tasks: plain data in, plain data out, for any process to do.

A chunk is some examples. What it draws follows from the campaign's seed, its own number and the
parents that it is handed; nothing is remembered from one chunk to the next.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from harness.fuzz.choices import Choices, varied
from harness.fuzz.corpus import Entry
from harness.fuzz.examples import Found, draw, options_of, play
from harness.fuzz.novelty import Pair
from harness.fuzz.reduced import Reduced, Reduction, reduced

if TYPE_CHECKING:
    from harness.targets import TargetSpec

SIZE = 16
"""Examples of a chunk."""

_VARIED = 0.5
"""How many of the examples are varied ones, once there are parents."""


class Chunk(msgspec.Struct, frozen=True, kw_only=True, tag="chunk"):
    """A lease: `count` examples, the first of them the campaign's number `first` (from 1)."""

    number: int
    first: int
    count: int
    seed: int
    target: str
    wire: str = "anthropic"
    parents: tuple[Choices, ...] = ()


class Tried(msgspec.Struct, frozen=True, kw_only=True, tag="tried"):
    """What came of a chunk. `entries` are examples that reached what none before them in this chunk
    did; `doubts` are reasons for runs that nobody can judge."""

    number: int
    examples: int
    entries: tuple[Entry, ...] = ()
    found: tuple[Found, ...] = ()
    doubts: tuple[str, ...] = ()
    model_calls: int = 0


Task: TypeAlias = Chunk | Reduction
Result: TypeAlias = Tried | Reduced


def work(task: Task) -> Result:
    """Do a task; the target is imported once in each process.

    Raises InputError for a target that cannot be used.
    """
    from harness.targets.spec import resolve

    target = resolve(task.target)
    return try_all(task, target) if isinstance(task, Chunk) else reduced(task, target)


def try_all(chunk: Chunk, target: TargetSpec) -> Tried:
    """Play every example of a chunk."""
    random = Random(f"{chunk.seed} {chunk.number}")
    options = options_of(target, chunk.wire)
    seen: set[tuple[Pair, tuple[str, ...]]] = set()
    entries: list[Entry] = []
    found: list[Found] = []
    doubts: list[str] = []
    calls = 0
    for example in range(chunk.first, chunk.first + chunk.count):
        given = _given(chunk, random)
        played = play(*draw(given, random, options), target, example)
        entry = played.entry
        new = tuple(p for p in entry.pairs if (p, entry.not_asked) not in seen)
        if new:
            seen.update((pair, entry.not_asked) for pair in new)
            entries.append(Entry(entry.choices, new, entry.not_asked))
        found += played.found
        doubts += played.doubts
        calls += played.model_calls
    return Tried(
        number=chunk.number,
        examples=chunk.count,
        entries=tuple(entries),
        found=tuple(found),
        doubts=tuple(dict.fromkeys(doubts)),
        model_calls=calls,
    )


def _given(chunk: Chunk, random: Random) -> Choices:
    if chunk.parents and random.random() < _VARIED:
        return varied(random, chunk.parents)
    return ()


def lost(task: Task) -> Result:
    """What is said of a task that ended each process that took it up."""
    if isinstance(task, Chunk):
        last = task.first + task.count - 1
        text = f"examples {task.first} to {last} end the process that plays them"
        return Tried(number=task.number, examples=task.count, doubts=(text,))
    return Reduced(code=task.code, example=task.example, failure="its process ended")
