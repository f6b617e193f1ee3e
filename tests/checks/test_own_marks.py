"""A mark that is wrong is a finding with its place and details; one that is right is none."""

from __future__ import annotations

import pytest

from harness.checks import judge
from harness.core.history.history import MARKS_MOST, History, decode, encode
from harness.core.values.mark_kinds import Mark, MarkKind
from harness.core.values.verdict import Finding
from harness.report.reach_lines import reach_lines
from harness.verdicts.event_lines import event_lines
from harness.verdicts.reach import Reach, check_names, total
from tests.checks.histories import Story

RIGHT = [Mark("always", "a", True), Mark("sometimes", "b", False), Mark("reachable", "c", True)]
DECLARED = [Mark("unreachable", "u"), Mark("always", "v"), Mark("reachable", "w")]
WRONG = Mark("always", "few messages", False, {"messages": 3}, "bot.py:7 in agent")


def _with(*marks: Mark) -> History:
    story = Story().turn("go")
    for mark in marks:
        story.history.marked(mark, 5)
    return story.reply("x").final().end()


def _found(history: History) -> list[Finding]:
    return [finding for finding in judge(history).findings if finding.check == "own_marks"]


def test_a_condition_that_does_not_hold_names_the_mark_its_place_and_its_details() -> None:
    history = _with(*RIGHT, WRONG)
    (finding,) = _found(history)
    assert (finding.code, finding.class_) == ("own_marks.broken", "defect")
    assert finding.message == (
        "always 'few messages' did not hold in turn 1 of main at bot.py:7 in agent: "
        '{"messages":3}'
    )
    assert finding.cause.subject == "few messages"
    (line,) = event_lines(history, finding.events).values()
    assert line == 'mark   always "few messages" does not hold, {"messages":3} (bot.py:7 in agent)'


def test_a_place_that_no_run_reaches_is_reached() -> None:
    (finding,) = _found(_with(Mark("unreachable", "two answers", False)))
    assert finding.code == "own_marks.reached"
    assert finding.message == "unreachable 'two answers' was reached in turn 1 of main"


def test_marks_that_are_right_or_only_declared_are_none() -> None:
    verdict = judge(_with(*RIGHT, *DECLARED))
    assert "own_marks" in verdict.passed
    assert not _found(_with(*RIGHT, *DECLARED))
    assert "own_marks" not in judge(_with(*DECLARED)).passed
    assert "own_marks" not in judge(_with()).passed


def test_a_mark_has_one_finding() -> None:
    story = Story().turn("go")
    story.history.marked(WRONG, 0)
    story.reply("x").final().turn("and")
    story.history.marked(WRONG, 9)
    found = _found(story.reply("y").final().end())
    assert [finding.message.split(" in turn ")[1][:1] for finding in found] == ["1"]


@pytest.mark.parametrize("kind", ["always", "sometimes", "reachable", "unreachable"])
def test_a_turn_keeps_the_first_mark_of_each_truth(kind: MarkKind) -> None:
    history = _with(*[Mark(kind, "a", holds) for holds in (True, False, None)] * 50)
    lines = [line for line in event_lines(history).values() if line.startswith("mark")]
    assert len(lines) == 3
    again = decode(encode(history.events))
    assert again.has_mark(kind, "a", True)
    assert not again.has_mark(kind, "b", True)


def test_marks_without_end_are_bounded() -> None:
    history = _with(*(Mark("reachable", str(n), True) for n in range(MARKS_MOST + 9)))
    assert sum(line.startswith("mark") for line in event_lines(history).values()) == MARKS_MOST


def test_the_reach_tells_what_no_run_came_to() -> None:
    reaches = [Reach.of(h, judge(h)) for h in (_with(*RIGHT), _with(*DECLARED), _with(WRONG))]
    reach = total(reaches)
    assert reach.marks == {"a": 1, "c": 1, "few messages": 1}
    assert reach.marks_never_true == ["b", "v", "w"]
    assert reach.missing(["mark:a", "mark:b", "mark:u", "mark:few*", "a"]) == [
        "mark:b",
        "mark:u",
        "a",
    ]
    lines = list(reach_lines(reach))
    assert lines[-1] == "  marks never true, 3 of 6: b, v, w"
    assert len(lines) <= 6
    assert max(map(len, lines)) <= 80
    assert "  marks: a, c, few messages" in reach_lines(reach, verbose=True)
    assert list(reach_lines(reaches[2]))[-1] == "  marks: few messages"
    bare = "\n".join(reach_lines(Reach.of(_with(), judge(_with()))))
    assert "  marks" not in bare


def test_any_mark_can_be_required() -> None:
    check_names(["mark:what nobody has read yet"])
