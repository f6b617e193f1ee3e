"""Reading and judging a log takes time in proportion to it, in every format and for every shape.

Processor time at `n` is compared with that at `4 n`. Linear work takes 4 times as long, quadratic
work 16 times; the margin lies between, and the least time of several tries counts. Garbage is
collected as rarely as in `harness judge`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import pytest

from harness.checks.judge import judge
from harness.cli.judge_task import few_collections
from harness.recordings.exchange_sessions import sessions
from harness.recordings.recognition import formats, read
from harness.recordings.transcript_counts import counts
from harness.recordings.transcript_history import to_history
from tests.recordings.large_logs import TALKS, WRITERS
from tests.recordings.large_shapes import OTHERS

N, FACTOR, MOST = 800, 4, 10
LARGER = {"one_message_of_calls": 3000, "openhands, one_message_of_calls": 1500}
"""The calls of one message are compared faster than messages, so their number must be larger. A
call of OpenHands has 15 kB, and a file over 128 MiB is refused."""

TRIES = (1, 3)
"""Most logs are measured once; the least of three counts where a busy machine was the slower."""

_ELSEWHERE = {"history", *(name for name, kind in formats().items() if kind.by_tables)}
"""Formats without an own writer here: one of ours, and databases, which are read row by row."""

CASES: dict[str, Callable[[int], bytes]] = {
    **{
        f"{name}, {talk}": partial(lambda write, said, n: write(said(n)), write, said)
        for name, write in WRITERS.items()
        for talk, said in TALKS.items()
    },
    **{f"{name}, others": write for name, write in OTHERS.items()},
}


def _judged(data: bytes) -> str:
    recording = read(data)
    for transcript in sessions(recording.transcripts):
        counts(transcript)
        judge(to_history(transcript))
    return recording.format


def _least_s(data: bytes, tries: int) -> float:
    taken_s = []
    for _ in range(tries):
        with few_collections():
            begun_s = time.process_time()
            _judged(data)
            taken_s.append(time.process_time() - begun_s)
    return min(taken_s)


@pytest.mark.timed
@pytest.mark.parametrize("case", CASES)
def test_time_grows_with_the_log(case: str) -> None:
    write = CASES[case]
    n = LARGER.get(case, LARGER.get(case.partition(", ")[2], N))
    # A collection of garbage may fall into each measure of one size: its share is not the growth.
    small, large, said = write(n), write(FACTOR * n), ""
    for tries in TRIES:
        small_s, large_s = _least_s(small, tries), _least_s(large, tries)
        said = f"{small_s:.3f} s, then {large_s:.3f} s"
        if large_s < MOST * max(small_s, 0.005):
            return
    pytest.fail(said)


@pytest.mark.parametrize("case", CASES)
def test_a_large_log_is_of_its_format(case: str) -> None:
    assert _judged(CASES[case](8)) == case.partition(",")[0].partition(" ")[0]


def test_every_format_has_a_large_log() -> None:
    known = {case.partition(",")[0].partition(" ")[0] for case in CASES}
    assert known == formats().keys() - _ELSEWHERE
