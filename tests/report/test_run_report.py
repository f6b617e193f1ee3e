"""The text report reads the same on any terminal, and loses nothing that can be copied."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from harness.core.values.verdict import Finding, Verdict
from harness.report import run_report
from harness.report.run_report import Paint, Style
from tests.report.fabricated import RUNS


def lines(width: int, paint: Paint = run_report.plain, verbose: bool = False) -> list[str]:
    """The whole report as the command line prints it."""
    column = run_report.label_width([run_report.label(run.name, run.scenario) for run in RUNS])
    rows = [
        run_report.entry(run, before, column, width, paint)
        for before, run in zip((None, *RUNS), RUNS, strict=False)
    ]
    return "\n".join([*rows, *run_report.ending(RUNS, width, paint, verbose)]).splitlines()


@pytest.mark.parametrize("width", [60, 120])
def test_report(width: int, snapshot: SnapshotAssertion) -> None:
    assert "\n".join(lines(width)) == snapshot


def test_verbose_report(snapshot: SnapshotAssertion) -> None:
    assert "\n".join(lines(100, verbose=True)) == snapshot


@pytest.mark.parametrize("width", [20, 60, 80, 120])
def test_only_what_is_copied_is_wider_than_the_terminal(width: int) -> None:
    copied = ("  repeat:", "  history:", "  explain:")
    prose = [line for line in lines(width) if not line.startswith(copied)]
    narrowest = max(len(line) for line in lines(0) if not line.startswith(copied))
    assert narrowest < 100
    assert all(len(line) <= max(width, narrowest) for line in prose)
    commands = [line for line in lines(width) if line.startswith(copied)]
    assert commands == [line for line in lines(200) if line.startswith(copied)]


def test_colour_changes_no_character() -> None:
    def marked(style: Style, said: str) -> str:
        return f"\x1b[{style}m{said}\x1b[0m"

    painted = "\n".join(lines(100, marked))
    for style in ("pass", "fail", "unknown", "strong", "faint", "not_applicable"):
        painted = painted.replace(f"\x1b[{style}m", "")
    assert painted.replace("\x1b[0m", "").splitlines() == lines(100)


def test_the_last_line_says_how_many_and_the_seed() -> None:
    assert lines(80)[-1] == (
        "5 runs: 2 passed, 1 failed, 1 unknown, 1 not applicable; target my.agent:agent; seed 7"
    )
    assert run_report.totals([]) == "0 runs: nothing ran; target ; seeds "


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("a", "baseline"),
        ("a+stream", "baseline+stream"),
        ("a@openai-chat", "baseline@openai-chat"),
        ("a/b@openai-chat+stream", "b@openai-chat+stream"),
    ],
)
def test_label(name: str, label: str) -> None:
    assert run_report.label(name, "a") == label


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
