"""The text report reads the same on any terminal, and loses nothing that can be copied."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from syrupy.assertion import SnapshotAssertion

from harness.core.values.verdict import Finding, Verdict
from harness.report import run_report
from harness.report.media.text import Detail, Text
from harness.report.run_report import Paint, Style, plain
from harness.verdicts.result import Result, label
from tests.report.fabricated import RUNS, told


def lines(
    width: int, detail: Detail = "usual", paint: Paint = plain, runs: Sequence[Result] = RUNS
) -> list[str]:
    """The whole report as the command line prints it."""
    return "\n".join(told(Text(detail, width, paint), runs)).splitlines()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_report(width: int, snapshot: SnapshotAssertion) -> None:
    assert "\n".join(lines(width)) == snapshot


@pytest.mark.parametrize("detail", ["quiet", "verbose"])
def test_less_and_more(detail: Detail, snapshot: SnapshotAssertion) -> None:
    assert "\n".join(lines(80, detail)) == snapshot


def test_a_single_run_is_whole(snapshot: SnapshotAssertion) -> None:
    assert "\n".join(lines(80, runs=RUNS[2:3])) == snapshot


@pytest.mark.parametrize("width", [20, 60, 80, 120])
@pytest.mark.parametrize("detail", ["usual", "verbose"])
def test_only_what_is_copied_is_wider_than_the_terminal(width: int, detail: Detail) -> None:
    copied = ("  repeat:", "  history:", "  explain:", "repeat:", "explain:")
    prose = [line for line in lines(width, detail) if not line.startswith(copied)]
    narrowest = max(len(line) for line in lines(0, detail) if not line.startswith(copied))
    assert narrowest < 100
    assert all(len(line) <= max(width, narrowest) for line in prose)
    commands = [line for line in lines(width, detail) if line.startswith(copied)]
    assert commands == [line for line in lines(200, detail) if line.startswith(copied)]


@pytest.mark.parametrize("detail", ["quiet", "usual", "verbose"])
def test_colour_changes_no_character(detail: Detail) -> None:
    def marked(style: Style, said: str) -> str:
        return f"\x1b[{style}m{said}\x1b[0m"

    painted = "\n".join(lines(100, detail, marked))
    for style in ("pass", "fail", "unknown", "strong", "faint", "not_applicable"):
        painted = painted.replace(f"\x1b[{style}m", "")
    assert painted.replace("\x1b[0m", "").splitlines() == lines(100, detail)


@pytest.mark.parametrize("detail", ["quiet", "usual", "verbose"])
def test_the_last_line_says_how_many_and_the_seed(detail: Detail) -> None:
    assert lines(80, detail)[-1] == (
        "5 runs: 2 passed, 1 failed, 1 unknown, 1 not applicable; target my.agent:agent; seed 7"
    )


@pytest.mark.parametrize(
    ("name", "within"),
    [
        ("a", "baseline"),
        ("a+stream", "baseline+stream"),
        ("a@openai-chat", "baseline@openai-chat"),
        ("a/b@openai-chat+stream", "b@openai-chat+stream"),
    ],
)
def test_label(name: str, within: str) -> None:
    assert label(name, "a") == within


def test_what_follows_stands_under_its_cause_and_says_its_class() -> None:
    found = (
        Finding("no_progress_stop.same_call", "it loops", (1,), "weakness"),
        Finding("script.exhausted", "it goes on", (2,), follows="no_progress_stop.same_call"),
        Finding("role_alternation.wire", "two in a row", (3,), "advice"),
    )
    said = [*run_report.findings(Verdict("fail", findings=found), {}, 80)]
    assert said == [
        "  no_progress_stop.same_call  (weakness)",
        "    it loops",
        "    #1",
        "    follows: script.exhausted",
        "      it goes on",
        "  role_alternation.wire  (advice, not failing)",
        "    two in a row",
        "    #3",
    ]
