"""What no run of a command asked is counted, and named where a user wants it."""

from __future__ import annotations

import json

from harness.checks import judge
from harness.core.values.messages import assistant, user
from harness.core.values.verdict import BOOK_KEEPING
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript
from harness.report.command_summary import asked_lines
from harness.report.media.json_lines import run_line
from harness.report.media.junit import document as junit
from harness.report.media.markdown import document as markdown
from harness.verdicts.result import Result
from harness.verdicts.tallies import AskedTally
from tests.checks.histories import Story, use

PLAIN = judge(Story().turn("go").reply("x").final().end())
FAILED = judge(Story().turn("go").reply(use("list")).tool(error=True).reply("x").final().end())
LOG = judge(to_history(Transcript(name="s", messages=(user("a"), assistant("b")))))
RUN = Result(
    name="a", scenario="a", title="", target="mine", world="simulate", seed=1, verdict=PLAIN
)


def test_what_one_run_asks_the_command_has_asked() -> None:
    alone, both = AskedTally([PLAIN]), AskedTally([PLAIN, FAILED])
    assert {"error_visible", "cancel_honoured", "effect_once"} <= set(alone.checks)
    assert set(alone.checks) - set(both.checks) >= {"error_visible", "effect_once"}
    assert "outbound_once.after_cancel" in both.rules
    assert "outbound_once.missing" not in alone.rules
    assert not BOOK_KEEPING & set(alone.checks)
    assert "truthful_outcome" in AskedTally([LOG]).checks


def test_one_line_says_it_and_more_names_it() -> None:
    tally = AskedTally([PLAIN, FAILED])
    number = f"{len(tally.checks)} checks and {len(tally.rules)} rules of other checks"
    assert list(asked_lines(tally)) == [f"never asked in this command: {number} (-v names them)"]
    head, checks, *rules = asked_lines(tally, verbose=True)
    assert head == f"never asked in this command: {number}"
    assert "cancel_honoured" in checks
    assert "  rules that need a cancel: outbound_once.after_cancel" in rules
    assert list(asked_lines(AskedTally())) == []


def test_the_reports_of_a_run_say_passed_only_of_what_was_asked() -> None:
    row = json.loads(run_line(RUN))
    lacks = {lack["check"]: lack["reason"] for lack in row["not_applicable"]}
    assert lacks["error_visible"] == "not asked: no failed tool call"
    assert row["not_asked"]["not asked: no cancel"] == ["outbound_once.after_cancel"]
    unasked = [n for n in lacks.values() if n.startswith("not asked")]
    assert f"checks: {len(PLAIN.passed)} passed, {len(unasked)} not asked" in junit([RUN]).decode()
    assert "Never asked: " in markdown([RUN])
    assert "`cancel_honoured`" in markdown([RUN])
    assert "`outbound_once`" not in markdown([RUN])
