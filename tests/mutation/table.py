"""What becomes of a mutant, and how many of a room come to what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tests.mutation.sample import ROOMS

KILLED, TIMED_OUT, SURVIVED = "killed", "timed out", "survived"
NO_TEST, NOT_RUN = "no test", "not run"
WORDS = (KILLED, TIMED_OUT, SURVIVED, NO_TEST, NOT_RUN)


class Result(NamedTuple):
    """What became of a mutant, and what says so: the test that fails, or the number that pass."""

    word: str
    said: str


def score(words: Iterable[str]) -> float:
    """The share of the mutants that a test notices; what could not be run does not count."""
    counts = Counter(words)
    noticed = counts[KILLED] + counts[TIMED_OUT]
    judged = noticed + counts[SURVIVED] + counts[NO_TEST]
    return noticed / judged if judged else 0.0


def table(results: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A row for each room, and one for all, of pairs of room and word; the rows of a page."""
    known = list(results)
    yield f"| room | mutants | {' | '.join(WORDS)} | score |"
    yield "|---" * (len(WORDS) + 3) + "|"
    for room in (*ROOMS, "all"):
        words = [word for of, word in known if room in (of, "all")]
        cells = [len(words), *(words.count(word) for word in WORDS)]
        yield f"| {room} | {' | '.join(map(str, cells))} | {score(words):.0%} |"
