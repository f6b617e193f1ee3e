"""What no run of a command reached is counted, and named where a user wants it."""

from __future__ import annotations

import json

import pytest

from harness.checks import judge
from harness.core.history.history import History
from harness.core.values.errors import InputError
from harness.core.values.messages import assistant, user
from harness.core.values.verdict import BOOK_KEEPING
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript
from harness.report.media.json_lines import run_line
from harness.report.media.junit import document as junit
from harness.report.media.markdown import document as markdown
from harness.report.reach_lines import reach_lines
from harness.verdicts.reach import MOMENTS, NOTHING, STATES, Reach, check_names, total
from harness.verdicts.result import Result
from tests.checks.histories import Story, use

BARE = Story().turn("go").reply("x").final().end()
FAILING = Story().turn("go").reply(use("list")).tool(error=True).reply("x").final().end()
PLAIN, FAILED = judge(BARE), judge(FAILING)
LOG = judge(to_history(Transcript(name="s", messages=(user("a"), assistant("b")))))
RUN = Result(
    name="a", scenario="a", title="", target="mine", world="simulate", seed=1, verdict=PLAIN
)


def _reach(*histories: History) -> Reach:
    return total(Reach.of(history, judge(history)) for history in histories)


def test_what_one_run_asks_the_command_has_asked() -> None:
    alone, both = _reach(BARE), _reach(BARE, FAILING)
    assert {"error_visible", "cancel_honoured", "effect_once"} <= set(alone.never_asked)
    assert set(alone.never_asked) - set(both.never_asked) >= {"error_visible", "effect_once"}
    assert "outbound_once.after_cancel" in both.rules_never_asked
    assert "outbound_once.missing" not in alone.rules_never_asked
    assert not BOOK_KEEPING & {*alone.never_asked, *both.asked, *both.applied}
    assert "truthful_outcome" in Reach.of_verdict(LOG).never_asked


def test_a_reach_adds_up_in_any_order_and_the_runs_are_counted() -> None:
    one, other = _reach(BARE), _reach(FAILING)
    assert one + other == other + one == _reach(BARE, FAILING)
    assert (one + NOTHING, NOTHING + one) == (one, one)
    assert (one + other).runs == 2
    assert (one + other).asked["outbound_once"] == 2
    assert (one + other).moments["failed_tool"] == 1


def test_a_check_that_met_nothing_applies_and_could_not_have_failed() -> None:
    reach = _reach(BARE)
    assert "history_faithful" in reach.applied
    assert "error_visible" in set(reach.applied) - set(reach.asked)


def test_the_states_of_a_run_are_seen() -> None:
    assert {"failed_tool", "tool_run"} <= set(_reach(FAILING).moments)
    assert not set(STATES) & set(_reach(FAILING).moments)
    assert set(_reach(FAILING).never_came) | set(_reach(FAILING).moments) == set(MOMENTS)


def test_a_layer_has_a_share_only_where_a_fault_struck() -> None:
    reach = Reach(runs=1, struck={"http.overloaded": 1}, asked={"loops": 1}, moments={"turn": 1})
    (layer,) = reach.layers
    assert (layer.name, layer.struck) == ("http", 1)
    assert layer.known > 20
    assert "http" not in reach.layers_not_exercised
    assert "sse" in reach.layers_not_exercised
    lines = list(reach_lines(reach))
    assert any(line.startswith("  faults by layer: http 1/") for line in lines)
    assert any(line.startswith("  no fault struck in: approvals, clock") for line in lines)
    assert not any("layer" in line for line in reach_lines(_reach(BARE)))


def test_it_is_six_lines_of_eighty_columns_and_more_names_it() -> None:
    reach = _reach(BARE, FAILING)
    lines = list(reach_lines(reach, 200))
    assert lines[0].startswith("reached: ")
    assert len(lines) <= 6
    assert max(map(len, lines)) <= 80
    said = "\n".join(reach_lines(reach, 1_000, verbose=True))
    assert all(name in said for name in reach.never_asked)
    assert "  rules that need a cancel: outbound_once.after_cancel" in said
    assert list(reach_lines(NOTHING)) == []


def test_what_is_required_and_was_not_reached_is_named() -> None:
    reach = Reach(runs=1, struck={"http.overloaded": 1}, moments={"kill": 1}, asked={"backoff": 1})
    assert reach.missing(["http.*", "kill", "backoff"]) == []
    assert reach.missing(["sse.*", "http.*", "compacted", "backoff.early"]) == [
        "sse.*",
        "compacted",
        "backoff.early",
    ]
    assert NOTHING.missing(["*"]) == ["*"]


@pytest.mark.parametrize("name", ["http.*", "kill", "parked", "backoff", "outbound_once.*", "*"])
def test_a_name_of_a_part_can_be_required(name: str) -> None:
    check_names([name])


def test_an_unknown_name_is_refused_with_the_near_ones() -> None:
    with pytest.raises(InputError, match="'compacted'") as refused:
        check_names(["kill", "compactd"])
    assert refused.value.place == "--require-reached compactd"


def test_of_a_verdict_alone_nothing_is_said_of_faults_and_moments() -> None:
    said = "\n".join(reach_lines(Reach.of_verdict(PLAIN)))
    assert "rules" in said
    assert "moments" not in said
    assert "faults" not in said


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
