"""Repetition in a transcript, defined once for the checks and for counts over recordings.

A run is maximal. Calls are identical by name and canonical JSON arguments, results by text. The
sequence ignores message boundaries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence

import msgspec

from harness.core.values.messages import Json, canonical

REPEATS = 3
"""The number of equal elements in a row that make a run."""


class CallMade(msgspec.Struct, frozen=True):
    """A call in a transcript: the tool's name, and its input as canonical JSON. Identical calls are
    equal."""

    name: str
    input: str

    @classmethod
    def of(cls, name: str, input: Json = None) -> CallMade:
        """The call with an input as JSON values."""
        return cls(name, canonical(input))


class ResultMade(msgspec.Struct, frozen=True):
    """A result in a transcript: its explicit error flag, its text, its tool's name."""

    is_error: bool
    text: str = ""
    name: str = ""


class Stretch(msgspec.Struct, frozen=True, array_like=True):
    """A maximal run: the repeated element, the number of elements, and the index of the first."""

    name: str
    length: int
    start: int


def equal_runs(keys: Sequence[Hashable | None], least: int = REPEATS) -> Iterator[tuple[int, int]]:
    """Start and length of each maximal run of at least `least` equal keys; None is never equal."""
    start = 0
    for index in range(1, len(keys) + 1):
        if index == len(keys) or keys[index] != keys[start]:
            if keys[start] is not None and index - start >= least:
                yield start, index - start
            start = index


def same_call_runs(calls: Sequence[CallMade], least: int = REPEATS) -> tuple[Stretch, ...]:
    """Runs of identical calls."""
    return tuple(Stretch(calls[at].name, length, at) for at, length in equal_runs(calls, least))


def same_fail_runs(results: Sequence[ResultMade]) -> tuple[Stretch, ...]:
    """Runs of identical failing results, by the flag or by a word for failure in the text."""
    return _failing(results, lambda r: r.is_error or says_failure(r.text), REPEATS)


def same_fail_runs_explicit(
    results: Sequence[ResultMade], least: int = REPEATS
) -> tuple[Stretch, ...]:
    """Runs of identical failing results, by the explicit flag only."""
    return _failing(results, lambda r: r.is_error, least)


def _failing(
    results: Sequence[ResultMade], fails: Callable[[ResultMade], bool], least: int
) -> tuple[Stretch, ...]:
    keys = [result.text if fails(result) else None for result in results]
    return tuple(Stretch(results[at].name, length, at) for at, length in equal_runs(keys, least))


def cycle2_runs(calls: Sequence[CallMade]) -> tuple[Stretch, ...]:
    """Maximal stretches of alternating calls, with the pair at least `REPEATS` times."""
    found = cycles(calls, 2)
    return tuple(
        Stretch(f"{calls[at].name}, {calls[at + 1].name}", length, at) for at, length in found
    )


def cycles(
    keys: Sequence[Hashable], period: int, repeats: int = REPEATS
) -> Iterator[tuple[int, int]]:
    """Start and length of each maximal stretch of this period, the whole cycle `repeats` times.

    A stretch with a shorter period that divides this one belongs to the shorter period.
    """
    start = 0
    for index in range(len(keys) - period + 1):
        if index < len(keys) - period and keys[index] == keys[index + period]:
            continue
        length = index - start + period
        if length >= period * repeats and not _shorter(keys[start : start + length], period):
            yield start, length
        start = index + 1


def _shorter(keys: Sequence[Hashable], period: int) -> bool:
    return any(
        period % shorter == 0 and keys[shorter:] == keys[:-shorter] for shorter in range(1, period)
    )


_FAILURE = re.compile(
    r"\A\W*(?:\w*error\b|\w*exception\b|traceback\b|fail(?:ed|ure)\b|fatal\b)", re.IGNORECASE
)


def says_failure(text: str) -> bool:
    """Whether a result's text begins with a word for failure (`Error: …`, `Traceback …`)."""
    return bool(_FAILURE.match(text))


# Each alternative but the counters begins a word, and a counter begins with a digit or "#": the two
# guards spare a search of a long text most of its tries (a quarter of the time, measured).
_MARKS = re.compile(
    r"\b(?=\w)(?:"
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"  # UUID
    r"|0x[0-9a-f]+\b|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}\b"  # address, hash
    r"|[a-z]{2,9}_(?=[a-z]*\d)[0-9a-z]{8,}\b"  # req_8f2k31ab
    r"|\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:z|[+-]\d\d:?\d\d)?)?"  # date
    r"|\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b|1\d{9}(?:\d{3})?\b"  # time of day, epoch
    r")|(?=[#\d])(?:"
    r"(?<=took )\d+(?:\.\d+)?|(?<=elapsed: )\d+(?:\.\d+)?|(?<=elapsed )\d+(?:\.\d+)?"
    r"|(?<=count=)\d+|(?<=count: )\d+|(?<=attempt )#?\d+|(?<=attempt=)\d+|(?<=call )#?\d+"
    r"|(?<=try )#?\d+|(?<=retry )#?\d+|(?<=request )#?\d+|\b\d+(?= times\b)"
    r")",
    re.IGNORECASE,
)
"""The variable parts of a report: ids, times, and the number of the call."""

_BOUNDED = re.compile(r"\s*(?:%|/\s*\d|(?:out )?of \d)")
"""The text after a number that is a share of a whole, and so shows progress."""


def without_marks(text: str) -> str:
    """A text without its ids, times and counters of calls; a share of a whole (3 of 9) stays."""
    return _MARKS.sub(lambda m: m[0] if _BOUNDED.match(text, m.end()) else "#", text)
