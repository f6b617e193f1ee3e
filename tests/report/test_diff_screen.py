"""A diff on one screen, its details, and its Markdown."""

from __future__ import annotations

import msgspec
import pytest

from harness.report.diff_screen import counts, details, screen
from harness.report.media.markdown import document
from harness.verdicts.run_diff import Diff, NotCompared, RunDiff
from tests.report.fabricated import run_diff

LEFT = tuple(NotCompared(f"left/{n}", "missing", f"only in A, for {n}") for n in range(5))
MANY = tuple(run_diff(f"loops/{n}", f"check.rule{n}", n) for n in range(60))


def alike(run: RunDiff) -> RunDiff:
    """The run without a difference."""
    return msgspec.structs.replace(run, new=(), gone=(), change=None, beside=(), b=run.a)


def both_ways(runs: tuple[RunDiff, ...]) -> tuple[RunDiff, ...]:
    """The runs with findings that are gone too."""
    return tuple(msgspec.structs.replace(run, gone=run.new) for run in runs)


@pytest.mark.parametrize("width", [80, 100, 200])
def test_however_much_differs_it_is_one_screen(width: int) -> None:
    lines = list(screen(Diff("one", "two", both_ways(MANY), LEFT), width))
    assert len(lines) <= 24
    assert all(len(line) <= width for line in lines[:-1])


def test_the_screen() -> None:
    runs = (run_diff(), run_diff("identical-failures/later"), alike(run_diff("fine")))
    assert list(screen(Diff("one", "two", runs, LEFT[:1]), 100)) == [
        "A  one  (target my.agent:agent)",
        "B  two  (target my.agent:agent)",
        "new in B",
        "     2  no_progress_stop.repeats  (defect)  identical-failures",
        "the first call that differs, A → B",
        "     2  tool memory: amount 1500 → 15  identical-failures main/tool#1",
        "sent with requests, A → B",
        "     2  max_tokens: 4096 → 9  identical-failures",
        "model calls 9 → 21, tool calls 6 → 8, answers 3",
        "prompt tokens 2,700 → 4,700, virtual time 4.5 s, real time 0.0 → 4.0 s",
        "not compared: 1 run (as left/0): only in A, for 0",
        "3 runs compared: 2 differ; 1 not compared",
    ]


def test_details_name_what_differs_alone() -> None:
    text = "\n".join(details(Diff("one", "two", (run_diff(), alike(run_diff("fine"))), LEFT), 100))
    assert "  new  no_progress_stop.repeats  (defect)\n       it is paid twice" in text
    assert "  new  run.undelivered, follows from no_progress_stop.repeats" in text
    assert "    B main/tool#1 #7  tool   ← memory {}" in text
    assert "fine" not in text
    assert text.count("not compared: left/") == len(LEFT)


@pytest.mark.parametrize(
    ("unlike", "alikes", "said"),
    [(0, 2, "none differs"), (1, 0, "it differs"), (2, 0, "all differ"), (1, 1, "1 differs")],
)
def test_the_last_line(unlike: int, alikes: int, said: str) -> None:
    runs = (*MANY[:unlike], *map(alike, MANY[:alikes]))
    assert counts(Diff("one", "two", runs)).endswith(f" compared: {said}")


def test_markdown_is_bounded_and_holds_no_html_of_strangers() -> None:
    hostile = run_diff("a/<script>", "x.`y`")
    text = document([run.result for run in (hostile, *MANY[:9])], 5000)
    assert len(text.encode()) <= 5000
    assert "<summary>✗ a/&#60;script&#62;</summary>" in text
    assert "left out" in text
