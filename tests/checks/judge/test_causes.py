"""The order of findings: the cause first, and under it what follows from it."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter

import pytest

from harness.checks.judge import judge, own_checks, rules
from harness.checks.judge.causes import CAUSES, from_causes
from harness.core.history.history import History
from harness.core.values.verdict import BOOK_KEEPING, Finding, FindingClass
from tests.checks.histories import Story, loop

LOOP = "no_progress_stop.same_call"


def _two_turns() -> History:
    return Story().turn("one").reply("a").final().turn("two").reply("b").final().end()


def _in_turn(history: History, number: int) -> list[int]:
    """The events of a turn."""
    return [e.n for e in history.events if getattr(e, "turn", 0) == number]


def _weak(code: str, *events: int) -> Finding:
    return Finding(code, "x", events, "weakness")


def _told(history: History, *findings: Finding) -> list[tuple[str, str]]:
    return [(f.code, f.follows) for f in from_causes(findings, history)]


def test_a_finding_without_a_cause_stands_in_the_order_of_classes() -> None:
    classes: list[FindingClass] = ["advice", "defect", "weakness"]
    some = [Finding(f"mine.{c}", "x", (1,), c) for c in classes]
    kept, crash = Finding("expect.known_missing", "x"), Finding("target.crashed", "x", (9,))
    assert [f.code for f in from_causes([kept, *some, crash], History())] == [
        "target.crashed",
        "mine.defect",
        "mine.weakness",
        "mine.advice",
        "expect.known_missing",
    ]


def test_in_a_class_the_code_that_is_proved_first_is_told_first_and_codes_stay_together() -> None:
    late, early = _weak("mine.late", 2, 9), _weak("mine.early", 4)
    again, defect = _weak("mine.early", 12), Finding("mine.defect", "x", (14,), "defect")
    found = from_causes([late, again, early, defect], History())
    assert [f.code for f in found] == ["mine.defect", "mine.early", "mine.early", "mine.late"]


def test_the_end_of_the_script_follows_from_the_loop_of_its_turn() -> None:
    history = _two_turns()
    first, second = _in_turn(history, 1), _in_turn(history, 2)
    over = Finding("script.exhausted", "x", (second[-1],))
    assert _told(history, over, _weak(LOOP, second[0])) == [(LOOP, ""), (over.code, LOOP)]
    assert _told(history, over, _weak(LOOP, first[0])) == [(LOOP, ""), (over.code, "")]


def test_a_code_that_is_no_cause_explains_nothing() -> None:
    over = Finding("script.exhausted", "x", (3,))
    assert _told(_two_turns(), over, _weak("durable_first.reply", 3))[1] == (over.code, "")


def test_what_a_crash_leaves_undone_follows_from_it_and_what_was_before_does_not() -> None:
    history = _two_turns()
    end = history.events[-1].n
    crash = Finding("target.crashed", "x", (end,))
    left = Finding("inbound_exactly_once.lost", "x", (2, end), "defect")
    before = Finding("inbound_exactly_once.lost", "y", (2, 5), "defect")
    unplayed = Finding("run.unplayed_turn", "x", (end,))
    assert _told(history, unplayed, before, left, crash) == [
        (crash.code, ""),
        (left.code, crash.code),
        (unplayed.code, crash.code),
        (before.code, ""),
    ]


@pytest.mark.parametrize(
    "code", ["stream_error_handled.silent", "session_heals.unasked", "session_heals.unanswered"]
)
def test_what_a_turn_lacks_that_a_crash_ends_follows_from_the_crash(code: str) -> None:
    history = Story().turn("one").reply("a").final().turn("two").end("crashed")
    crash, last = Finding("target.crashed", "x", (len(history.events),)), len(history.events)
    assert _told(history, _weak(code, last - 2, last), crash)[1] == (code, "target.crashed")
    assert _told(history, _weak(code, 2, 5), crash)[1] == (code, "")


def test_an_agent_that_asks_elsewhere_is_told_so_first() -> None:
    history = _two_turns()
    unseen = Finding("run.nothing_intercepted", "x", (history.events[-1].n,))
    reply = Finding("truthful_outcome.no_answer", "x", (4,), "defect")
    other = Finding("outbound_once.twice", "x", (4,), "defect")
    assert _told(history, other, reply, unseen) == [
        (unseen.code, ""),
        (reply.code, unseen.code),
        (other.code, ""),
    ]


def test_what_follows_from_a_follower_stands_under_the_first_cause() -> None:
    end = _two_turns().events[-1].n
    found = [
        Finding("run.silent_fault", "x", (end,)),
        Finding("run.unplayed_turn", "x", (end,)),
        Finding("truthful_outcome.unfinished", "x", (3, 4), "defect"),
    ]
    assert _told(_two_turns(), *found) == [
        ("truthful_outcome.unfinished", ""),
        ("run.unplayed_turn", "truthful_outcome.unfinished"),
        ("run.silent_fault", "run.unplayed_turn"),
    ]


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("inbound_exactly_once.lost", "no_silent_loss.lost"),
        ("outbound_once.missing", "no_silent_loss.lost"),
        ("error_visible.claimed", "history_faithful.forgotten_effect"),
        ("valid_request.V14", "outbound_once.twice"),
        ("durable_first.inbound", "inbound_exactly_once.order"),
    ],
)
def test_what_a_turn_loses_is_told_before_what_it_then_lacks(code: str, cause: str) -> None:
    history = _two_turns()
    first, second = _in_turn(history, 1), _in_turn(history, 2)
    lacks = Finding(code, "x", (second[0], second[-1]), "defect")
    assert _told(history, lacks, _weak(cause, second[1])) == [(cause, ""), (code, cause)]
    assert _told(history, lacks, _weak(cause, first[1])) == [(code, ""), (cause, "")]


def test_the_judge_tells_the_cause_first_and_counts_what_follows() -> None:
    story = loop(Story(settings={"expect": {"calls": {"model": {"max": 2}}}}).turn("go"), "list", 4)
    verdict = judge(story.reply("x").final().end(), fail_on="defect")
    assert [(f.code, f.follows) for f in verdict.findings] == [(LOOP, ""), ("expect.calls", LOOP)]
    assert [f.code for f in verdict.failing] == ["expect.calls"]


@pytest.mark.parametrize("row", CAUSES.values(), ids=lambda row: row.finding)
def test_a_row_names_rules_that_there_are(row: object) -> None:
    for code in (getattr(row, "finding", ""), *getattr(row, "causes", ())):
        check, _, rule = code.partition(".")
        assert check in own_checks()
        is_known = code in rules() or f"{check}.*" in rules()
        assert rule == "*" or check in BOOK_KEEPING or is_known, code
    assert re.fullmatch(r"[A-Z].*\.", getattr(row, "reason", ""))


def test_nothing_follows_from_what_follows_from_it() -> None:
    codes = {code for row in CAUSES.values() for code in (row.finding, *row.causes)}
    graph = {
        row.finding: {code for code in codes for cause in row.causes if _covers(cause, code)}
        for row in CAUSES.values()
    }
    assert list(TopologicalSorter(graph).static_order())


def _covers(pattern: str, code: str) -> bool:
    return pattern == code or (pattern.endswith("*") and code.startswith(pattern[:-1]))


def test_what_a_crash_leaves_undone_follows_from_it_and_what_was_done_after_does_not() -> None:
    """A thread crashes, and another one takes the next message."""
    history = Story().turn("one").reply("a").final().turn("two").reply("b").take("three")
    ended = history.end("crashed").events[-1].n
    first, third = _in_turn(history.history, 1), _in_turn(history.history, 3)
    lost, crash = "inbound_exactly_once.lost", Finding("target.crashed", "x", (ended,))
    found = _told(history.history, _weak(lost, *third), _weak(lost, *first[:2]), crash)
    assert found == [(crash.code, ""), (lost, crash.code), (lost, "")]
