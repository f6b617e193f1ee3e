"""Each rule is asked by its event: with it in the history, and never without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given

from harness import Brief
from harness.checks.evidence.turn_outcomes import before_own_answers
from harness.checks.judge import judge, own_checks, rule_of, rules
from harness.checks.judge.check_rules import CheckRule, Question
from harness.checks.judge.questions import EVENTS, Questions
from harness.contracts.check_contract import RUNS, played
from harness.core.history.history import History, decode
from harness.core.scenario.scenario import Turn
from harness.core.values import patterns
from harness.core.values.messages import Text, Thinking, ToolResult, assistant, results, user
from harness.core.values.profile import Profile
from harness.core.values.verdict import BOOK_KEEPING, Verdict
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript
from harness.runner import run
from tests.checks.failing_worlds import FailingWorld
from tests.checks.histories import Story, loop, use
from tests.checks.sessions import Sessions
from tests.checks.test_children import Parent, scenario
from tests.checks.test_properties import HISTORIES
from tests.core.test_patterns import ENDLESS, TEXT

Told = Callable[[], History]


def _story(**start: object) -> FailingWorld:
    return FailingWorld(**start)  # type: ignore[arg-type]


def _go(**start: object) -> FailingWorld:
    story = _story(**start)
    story.turn("go")
    return story


def _ran(*, error: bool = False, **call: object) -> FailingWorld:
    story = _go()
    story.reply(use("list", {"path": "a"}, **call)).tool("x", error=error)  # type: ignore[arg-type]
    return story


def _done(story: Story) -> History:
    return story.reply("x").final().end()


def _moved() -> History:
    story = _go().fail(529)
    story.provider = "openai-chat"
    return _done(story.reply("x").final().turn("again"))


def _log() -> History:
    return to_history(Transcript(name="s", messages=(user("a"), assistant("b"))))


def _without(seam: str) -> Told:
    seams = tuple(name for name in ("model", "tool", "inbox", "outbox", "store") if name != seam)
    return lambda: _story(seams=seams).end()


def _stopped(stop: str | None) -> Told:
    return lambda: _go().reply("part", stop=stop).final().end()


def _odd(value: object) -> Told:
    return lambda: _go().reply(use("list", value)).refuse().reply("x").final().end()


def _compacted(*blocks: str, times: int = 1, **answer: object) -> Told:
    def told() -> History:
        story = _go()
        for _ in range(times):
            story.reply("a").reply(*blocks, purpose="compact", **answer)  # type: ignore[arg-type]
        return story.reply("x").final().end()

    return told


def _results(length: int) -> History:
    story = _story(settings={"window_tokens": 10}).turn("go").reply(use("list", {"path": "a"}))
    return story.tool("x" * length).reply("x").final().end()


def _exited(status: int) -> Told:
    return lambda: _go().fail(400).end(exit_code=status)


def _family(cancels: bool = False) -> History:
    run = Sessions().take().model().model("child", parent="main")
    return (run.cancel() if cancels else run.say()).end()


def _child(said: Turn, profile: Profile | None = None) -> History:
    """A turn whose child works in the background, and answers with `said`."""

    def agent(brief: Brief) -> None:
        Parent(brief, lambda text, failed: "Started in the background.").serve()

    return run(scenario(said, profile=profile), agent).history


def _seeded() -> History:
    story = _story(stores=False).row(user("before"), assistant("yes"))
    return story.turn("go").reply("x").final().end()


def _two_sessions() -> History:
    return Sessions().take("one").model("one").take("two").model("two").end()


def _in_turn() -> History:
    story = _go(settings={"profile": {"inbound": "queue"}})
    story.reply("a").take("and", reader=True)
    return _done(story)


def _resumed() -> History:
    story = _ran()
    return story.effect().restart().reply("x").final().end()


SCENARIOS = Path(__file__).parents[3] / "scenarios"
BARE: Told = lambda: _story().end()  # noqa: E731
QUIET: Told = lambda: _done(_go())  # noqa: E731

WITH: Mapping[Question, tuple[Told, Told]] = {
    "run": (BARE, _log),
    "recording": (_log, BARE),
    "inbox": (BARE, _without("inbox")),
    "outbox": (BARE, _without("outbox")),
    "store": (BARE, _without("store")),
    "turn": (QUIET, BARE),
    "request": (QUIET, lambda: _go().end()),
    "second_provider": (_moved, QUIET),
    "second_model": (_moved, QUIET),
    "later_request": (lambda: _go().reply("a").reply("x").final().end(), QUIET),
    "tools_offered": (QUIET, lambda: _go().reply("x", tools=False).final().end()),
    "sub_agent": (lambda: _family(cancels=True), _two_sessions),
    "child_end": (lambda: _child(Turn(say="There are none.")), _family),
    "failed_child": (
        lambda: _child(Turn(say="There", stop="max_tokens")),
        lambda: _child(Turn(say="There are none.")),
    ),
    "child_in_turn": (
        lambda: _child(Turn(say="There are none."), Profile(children="steer")),
        lambda: _child(Turn(say="There are none.")),
    ),
    "woken_turn": (lambda: _done(_story().turn("HEARTBEAT now")), QUIET),
    "large_result": (lambda: _results(99), lambda: _results(3)),
    "overflow": (lambda: _done(_go().fail(413)), lambda: _done(_go().fail(400))),
    "failed_request": (lambda: _done(_go().fail(400)), QUIET),
    "temporary_failure": (lambda: _done(_go().fail(529)), lambda: _done(_go().fail(400))),
    "retry_after": (
        lambda: _done(_go().fail(429, retry_after="2")),
        lambda: _done(_go().fail(429, retry_after="soon")),
    ),
    "vain_answer": (lambda: _done(_go().fail(400)), lambda: _done(_go().fail(529))),
    "bad_answer": (_stopped("max_tokens"), _stopped("refusal")),
    "cut_answer": (lambda: _done(_go().breaks("pa")), _stopped("max_tokens")),
    "refused_answer": (_stopped("refusal"), _stopped("max_tokens")),
    "truncated_answer": (_stopped("max_tokens"), _stopped("refusal")),
    "unfinished_answer": (_stopped("pause_turn"), _stopped("refusal")),
    "synthetic_answer": (
        lambda: _done(_go().reply("API Error: 529", usage={"input_tokens": 0, "output_tokens": 0})),
        lambda: _go().reply("API Error: 529").final().end(),
    ),
    "non_ascii_answer": (lambda: _go().reply("größer").final().end(), QUIET),
    "text_blocks": (
        lambda: _done(_go().reply(Text("a"), Text("b"))),
        lambda: _done(_go().reply(Text("a"), Text(" "))),
    ),
    "marked_answer": (lambda: _done(_go().reply("**a** < b")), QUIET),
    "fenced_answer": (lambda: _done(_go().reply("```\na\nb\n```")), QUIET),
    "thought": (
        lambda: _done(_go().reply(Thinking("Hm."), Text("a"))),
        lambda: _done(_go().reply(Thinking("Hm."), use("list")).tool().reply("a")),
    ),
    "text_beside_call": (
        lambda: _done(_go().reply(Text("a"), use("list"))),
        lambda: _done(_go().reply(use("list")).tool().reply("a")),
    ),
    "approval": (
        lambda: _done(_go().reply(use("list", {"path": "a"})).ask().tool("x")),
        lambda: _done(_ran()),
    ),
    "tool_call": (lambda: _done(_ran()), QUIET),
    "repeated_call": (
        lambda: _done(loop(_go(), "list", 2)),
        lambda: _done(loop(loop(_go(), "list", 1), "poll", 1)),
    ),
    "unrun_call": (_odd({"path": "a"}), lambda: _done(_ran())),
    "cut_call": (lambda: _done(_go().breaks("", use("list"))), lambda: _done(_go().breaks("pa"))),
    "stopped_call": (
        lambda: _go().reply(use("list"), stop="max_tokens").refuse().reply("x").final().end(),
        lambda: _done(_ran()),
    ),
    "ended_call": (
        lambda: _go().reply("I look.", use("list"), stop="end_turn").final().end(),
        lambda: _done(_ran()),
    ),
    "odd_input": (_odd([1]), _odd({"path": "a"})),
    "empty_input": (
        lambda: _go().reply(use("write", {})).refuse().reply("x").final().end(),
        lambda: _done(loop(_go(), "list", 1)),
    ),
    "tool_result": (lambda: _done(_ran()), lambda: _ran().end()),
    "tool_run": (lambda: _done(_ran()), _odd({"path": "a"})),
    "second_tool_run": (lambda: _done(loop(_go(), "list", 2)), lambda: _done(_ran())),
    "failed_tool": (lambda: _done(_ran(error=True)), lambda: _done(_ran())),
    "effect": (_resumed, lambda: _done(_ran())),
    "message": (QUIET, lambda: _done(_story().turn(" "))),
    "blank_message": (lambda: _done(_story().turn(" ")), QUIET),
    "second_message": (lambda: _done(_go().reply("a").final().turn("and")), QUIET),
    "message_in_turn": (_in_turn, lambda: _done(_go().reply("a").final().turn("and"))),
    "second_session": (_two_sessions, lambda: _done(_go().reply("a").final().turn("and"))),
    "request_after_reply": (
        lambda: _done(_go().reply("a").final().turn("and")),
        lambda: _done(_go().reply("a").turn("and")),
    ),
    "message_after_fault": (
        lambda: _done(_ran(error=True).reply("a").final().turn("and")),
        lambda: _done(_go().reply("a").final().turn("and")),
    ),
    "message_after_refused_content": (lambda: _done(_go().refused_picture().turn("and")), QUIET),
    "cancel": (lambda: _done(_go().cancel()), QUIET),
    "kill": (_resumed, QUIET),
    "second_kill": (lambda: _done(_ran().restart().restart()), _resumed),
    "reply": (QUIET, lambda: _go().reply("x").say("so far", "partial").end()),
    "unsure_reply": (lambda: _go().reply("x").final().restart().end(), QUIET),
    "partial_reply": (lambda: _go().reply("x").say("so far", "partial").end(), QUIET),
    "forbidden_words": (
        lambda: _done(_go(settings={"expect": {"must_not": {"say": ["done"]}}})),
        lambda: _done(_go(settings={"expect": {"must_not": {"call": ["list"]}}})),
    ),
    "exit_status": (_exited(0), _exited(1)),
    "finished_turn": (QUIET, lambda: _go().reply("x").end()),
    "compaction": (_compacted("sum"), QUIET),
    "failed_compaction": (_compacted(""), _compacted("sum")),
    "bad_summary": (_compacted("sum", stop="max_tokens"), _compacted("sum")),
    "summary": (_compacted("sum"), _compacted("")),
    "second_summary": (_compacted("sum", times=2), _compacted("sum")),
    "stored_row": (QUIET, lambda: _done(_go(stores=False))),
    "loaded_session": (_seeded, QUIET),
    "store_failure": (
        lambda: _done(_go().write(user("row"))),
        lambda: _done(_go().write(user("row"), fails=False)),
    ),
    "mark": (lambda: _done(_go().mark(True)), lambda: _done(_go().mark(None))),
}
"""For each event a history that holds it, and one that lacks it and is else like it."""


def _more() -> list[History]:
    """Histories that hold several events, for the rules that need them."""
    failed = _ran(error=True)
    failed.history.events[0].settings["expect"] = {"must_not": {"say": ["done"]}}  # type: ignore[union-attr]
    killed = _ran().effect().restart()
    gated = _go().reply(use("list", {"path": "a"})).ask()
    compacts = _ran().reply("a", purpose="main")
    summed = _ran().reply("a").reply("sum", purpose="compact")
    overflow = _go().reply("sum", purpose="compact").fail(413)
    partial = _go().breaks("pa").say("pa", "partial")
    log = (user("a"), assistant(use("list", [1], "t")), results(ToolResult("t", "x")))
    return [
        _done(failed),
        killed.reply("x").final().end(),
        compacts.reply("sum", purpose="compact").reply("x").final().turn("and").reply("y").end(),
        _done(_go().reply("a").reply("", purpose="compact")),
        _compacted("sum", times=2)(),
        summed.reply("x").final().of("two").take("b").end(),
        _done(overflow),
        _done(partial),
        _done(_go().fail(400)),
        _ran().cancel().say("Stopped.", "final", "cancelled").end(),
        _ran().cancel().say("Stopped.", "final", "cancelled").turn("and").reply("y").final().end(),
        gated.tool("x").cancel().say("Stopped.", "final", "cancelled").end(),
        _ran().effect().reply("x").final().turn("and").reply("y").final().end(),
        _go().reply("x").final().turn("and").fail(529, "limit.model_calls").end(),
        to_history(Transcript(name="s", wire="anthropic", messages=log)),
        to_history(
            Transcript(name="s", messages=log, exchange=True, answered=True), "anthropic-2026"
        ),
    ]


@cache
def _pool() -> tuple[Verdict, ...]:
    told = [history() for pair in WITH.values() for history in pair]
    return tuple(map(judge, [*told, *_more(), *(decode(played(n)) for n in range(0, RUNS, 4))]))


def _is_asked(row: CheckRule, verdict: Verdict) -> bool:
    """Whether a verdict says that a rule was asked."""
    lacks = {n.check for n in verdict.not_applicable}
    return not lacks & {row.check, row.code}


def test_every_rule_names_its_event_and_no_other_does() -> None:
    assert all(row.asked_by for row in rules().values())
    assert {name for row in rules().values() for name in row.asked_by} == EVENTS.keys()
    assert {row.check for row in rules().values()} == own_checks().keys() - BOOK_KEEPING


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_is_seen_where_it_is_and_nowhere_else(name: Question) -> None:
    there, absent = (make() for make in WITH[name])
    assert Questions(there.trace).puts(name)
    assert not Questions(absent.trace).puts(name)


@pytest.mark.parametrize("row", rules().values(), ids=lambda row: row.code)
def test_a_rule_without_its_event_is_not_applicable(row: CheckRule) -> None:
    verdict = judge(BARE())
    assert not _is_asked(row, verdict)
    assert row.check not in verdict.passed
    for name in row.asked_by:
        _, absent = WITH[name]
        assert not _is_asked(row, judge(absent()))


@pytest.mark.parametrize("row", rules().values(), ids=lambda row: row.code)
def test_a_rule_with_its_event_is_asked(row: CheckRule) -> None:
    check = row.check
    asked = [verdict for verdict in _pool() if _is_asked(row, verdict)]
    assert asked
    for verdict in asked:
        assert check in {*verdict.passed, *(finding.check for finding in verdict.findings)}
        assert verdict.doubts == ()


def _check_law(history: History) -> None:
    part = before_own_answers(history)
    questions = Questions(part.trace)
    for name in own_checks().keys() - BOOK_KEEPING:
        for found in own_checks()[name](part):
            row = rule_of(found.code)
            assert all(map(questions.puts, row.asked_by)), found


@given(HISTORIES)
def test_what_has_a_finding_was_asked(history: History) -> None:
    """A finding may answer a question by its absence, so it needs the event and not the answer."""
    _check_law(history)


@pytest.mark.parametrize("number", range(0, RUNS, 3))
def test_what_has_a_finding_in_a_run_was_asked(number: int) -> None:
    _check_law(decode(played(number)))


def test_an_agent_that_does_nothing_is_asked() -> None:
    """The delivery puts the question, so silence is a finding and no excuse."""
    found = {finding.code for finding in judge(_go().end()).findings}
    assert {"outbound_once.missing", "inbound_exactly_once.lost"} <= found


def test_a_check_says_why_it_was_not_asked() -> None:
    verdict = judge(QUIET())
    reasons = {n.check: n.reason for n in verdict.not_applicable}
    assert reasons["effect_once"] == "not asked: no tool run, no effect of a tool"
    assert reasons["outbound_once.after_cancel"] == "not asked: no cancel"
    rules_of_a_cancel = ("outbound_once.after_cancel", "cancel_honoured", "child_cancelled")
    assert verdict.not_asked["not asked: no cancel"] == rules_of_a_cancel


@pytest.mark.parametrize("story", [QUIET, lambda: _done(_ran(error=True))])
def test_a_must_that_was_never_put_is_named(story: Told) -> None:
    history = story()
    history.events[0].settings["expect"] = {"must": ["error_visible"]}  # type: ignore[union-attr]
    verdict = judge(history)
    doubt = "the scenario asks for error_visible, which is not asked: no failed tool call"
    asked = bool(history.past.tool_calls)
    assert verdict.doubts == (() if asked else (doubt,))
    assert verdict.verdict == ("pass" if asked else "unknown")


@pytest.mark.parametrize("woken", [ENDLESS, "(", 5])
def test_a_pattern_that_the_check_refuses_ends_no_judgement(
    woken: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "LIMIT_S", 0.02)
    story = _story(settings={"checks": {"wake_budget": {"woken": woken}}})
    history = _done(story.turn(TEXT))
    assert Questions(history.trace).puts("woken_turn")
