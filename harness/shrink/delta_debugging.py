"""Searches that know nothing of scenarios: remove places, lower a number, shorten a text.

Each is a generator of candidates: `kept = yield candidate`. A search goes on from what was kept.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TypeAlias, TypeVar

from harness.core.scenario.scenario import Scenario

A = TypeVar("A")
B = TypeVar("B")

WORD = 20
"""How many characters a word may have that is not cut."""

Candidates: TypeAlias = Generator[A, bool, None]
Reduction: TypeAlias = Callable[[Scenario], Candidates[Scenario]]


def subsets(count: int) -> Candidates[tuple[int, ...]]:
    """Which of `count` places stay: all are taken away, then halves, quarters, single ones.

    The last round, of single places, comes again until none of them can go: what is left then is
    minimal in the sense of delta debugging.
    """
    places = tuple(range(count))
    size = len(places)
    while size:
        before, at = len(places), 0
        while at < len(places):
            rest = places[:at] + places[at + size :]
            if (yield rest):
                places = rest
            else:
                at += size
        again = size == 1 and len(places) < before
        size = 1 if again and places else min(size // 2, len(places))


def lowered(number: int, least: int = 1) -> Candidates[int]:
    """Numbers from `least` to below `number`: twice as far each time, then by halves back."""
    failed, kept, step = least - 1, number, 1
    while kept == number and failed + step < number:
        if (yield failed + step):
            kept = failed + step
        else:
            failed, step = failed + step, 2 * step
    while kept - failed > 1:
        middle = (failed + kept) // 2
        if (yield middle):
            kept = middle
        else:
            failed = middle


def shortened(text: str) -> Candidates[str]:
    """The text's first words, as few as will do, then the last of these; of a long word a part.

    Whole words stay readable, and a word of up to 20 characters is short enough. No text is made
    blank: that would be another kind of message.
    """
    first = text.split()
    text = yield from kept_of(mapped(lowered(len(first)), lambda n: " ".join(first[:n])), text)
    last = text.split()
    text = yield from kept_of(mapped(lowered(len(last)), lambda n: " ".join(last[-n:])), text)
    words = text.split()
    if len(words) == 1 and len(words[0]) > WORD:  # without the blanks around it
        yield from mapped(lowered(len(words[0])), lambda n: words[0][:n])


def mapped(steps: Candidates[A], make: Callable[[A], B | None]) -> Candidates[B]:
    """The steps with each candidate made into another; None is one that cannot be made."""
    try:
        value = next(steps)
        while True:
            made = make(value)
            kept = (yield made) if made is not None else False
            value = steps.send(kept)
    except StopIteration:
        return


def fewer(items: Sequence[A], make: Callable[[list[A]], B | None]) -> Candidates[B]:
    """What is made of fewer and fewer of the items, in their order."""
    return mapped(subsets(len(items)), lambda kept: make([items[n] for n in kept]))


def kept_of(steps: Candidates[A], start: A) -> Generator[A, bool, A]:
    """The steps; returns the candidate that was kept last, `start` if none was."""
    try:
        candidate = next(steps)
        while True:
            kept = yield candidate
            start = candidate if kept else start
            candidate = steps.send(kept)
    except StopIteration:
        return start


def in_turn(scenario: Scenario, reductions: Iterable[Reduction]) -> Candidates[Scenario]:
    """One reduction after the other, each from what the ones before have left."""
    for reduction in reductions:
        scenario = yield from kept_of(reduction(scenario), scenario)
