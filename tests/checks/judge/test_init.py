"""The judge: which checks are asked, and what their answers come to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.checks.evidence.declarations import needs
from harness.checks.judge import checks, judge
from harness.checks.judge.check_texts import explain, names
from harness.core.history.history import History
from harness.core.values.errors import InputError
from harness.core.values.verdict import Finding
from tests.checks.histories import Story, codes, loop

INVARIANTS = {
    "provider_change",
    "compaction_due",
    "summary_informed",
    "child_cancelled",
    "child_result",
    "summary_used",
    "wake_budget",
    "session_answers",
    "own_marks",
    "reply_carried",
    "result_carried",
    "session_isolation",
    "key_kept",
    "bounded_spawn",
    "bounded_wait",
    "budget_ceiling",
    "compaction_preserves",
    "backoff",
    "ends_with_user",
    "error_visible",
    "no_silent_loss",
    "resume_bounded",
    "resume_prefix",
    "session_heals",
    "turn_closed",
    "answer_taken",
    "stream_error_handled",
    "nonblank_content",
    "request_fits",
    "retry_budget",
    "tool_pairing",
    "unique_tool_ids",
    "wellformed_text",
    "turn_serial",
    "calls_handled",
    "cancel_honoured",
    "append_only_prefix",
    "history_faithful",
    "approval",
    "args_complete",
    "bounded_turn",
    "compaction_progress",
    "durable_first",
    "effect_once",
    "inbound_exactly_once",
    "no_blind_resend",
    "no_false_stop",
    "no_progress_stop",
    "outbound_once",
    "reload_equivalence",
    "role_alternation",
    "truthful_outcome",
    "valid_request",
}


def _good(**story: Any) -> Story:
    return Story(**story).turn("go").reply("x").final()


def _looping(**settings: Any) -> History:
    return loop(Story(settings=settings).turn("go"), "list", 4).reply("x").final().end()


@needs("model")
def _always(history: History, *, code: str = "mine.found") -> Iterator[Finding]:
    """Finds something in every history."""
    yield Finding(code, "there it is", (1,))


@needs("model")
def _broken(history: History) -> Iterator[Finding]:
    """Crashes."""
    yield Finding("mine.found", str(1 // 0))


def test_every_check_is_listed_with_a_sentence() -> None:
    listed = names()
    assert set(listed) == INVARIANTS | {"run", "target", "limit", "script", "cassette", "expect"}
    assert all(len(text) > 20 for text in listed.values())


def test_a_code_is_explained_by_its_check() -> None:
    assert "`cycle`" in explain("no_progress_stop.cycle")
    with pytest.raises(InputError, match="did you mean 'valid_request'"):
        explain("valid_requests.V4")


def test_a_good_run_passes_all_checks_that_it_asks() -> None:
    verdict = judge(_good().end())
    assert (verdict.verdict, verdict.outcome, verdict.findings) == ("pass", "completed", ())
    unasked = {n.check for n in verdict.not_applicable if n.kind == "unasked"}
    assert set(verdict.passed) == set(checks()) - unasked
    assert {"outbound_once", "valid_request"} <= set(verdict.passed)
    assert {"error_visible", "resume_bounded", "compaction_progress"} <= unasked


def test_a_finding_fails_the_run() -> None:
    verdict = judge(_looping())
    assert (verdict.verdict, codes(verdict.findings)) == ("fail", ["no_progress_stop.same_call"])
    assert "no_progress_stop" not in verdict.passed


def test_settings_reach_their_check() -> None:
    assert judge(_looping(checks={"no_progress_stop": {"repeats": 4}})).verdict == "pass"


@pytest.mark.parametrize("checks", [{"no_progress_stop": {"repaets": 4}}, {"no_progres_stop": {}}])
def test_settings_that_nobody_knows_are_a_doubt(checks: dict[str, Any]) -> None:
    verdict = judge(_good(settings={"checks": checks}).end())
    assert verdict.verdict == "unknown"
    assert "no_progres" in verdict.doubts[0]


def test_a_check_without_its_seam_is_listed_and_not_counted() -> None:
    verdict = judge(_good(seams=("model", "outbox", "inbox")).end())
    left_out = {n.check for n in verdict.not_applicable}
    assert verdict.verdict == "pass"
    assert {"reload_equivalence", "durable_first", "no_progress_stop"} <= left_out
    assert not left_out & set(verdict.passed)


def test_a_check_that_is_asked_for_by_name_must_apply() -> None:
    settings = {"expect": {"must": ["durable_first", "no_such_check"]}}
    verdict = judge(_good(seams=("model", "outbox"), settings=settings).end())
    assert verdict.verdict == "unknown"
    asked, mistyped = verdict.doubts
    assert asked.startswith("the scenario asks for durable_first, which needs the seam")
    assert "no_such_check" in mistyped


@pytest.mark.parametrize(
    ("capabilities", "verdict"),
    [({"store": False}, "pass"), ({}, "unknown"), ({"store": False, "own_store": True}, "unknown")],
)
def test_an_agent_without_a_store_is_not_asked_about_one(
    capabilities: dict[str, bool], verdict: str
) -> None:
    profile = {"capabilities": capabilities}
    settings = {"expect": {"must": ["reload_equivalence"]}, "profile": profile}
    story = _good(seams=("model", "tool", "inbox", "outbox"), settings=settings)
    assert judge(story.end()).verdict == verdict


@pytest.mark.parametrize(("writes", "verdict"), [(False, "pass"), (True, "unknown")])
def test_an_agent_that_writes_no_summaries_is_not_asked_about_them(
    writes: bool, verdict: str
) -> None:
    profile = {"capabilities": {"compaction": writes}}
    must = ["compaction_progress", "summary_used"]
    story = _good(settings={"expect": {"must": must}, "profile": profile})
    assert judge(story.end()).verdict == verdict


def test_a_run_to_which_no_check_applies_is_unknown() -> None:
    story = Story(seams=(), world="recording")
    verdict = judge(story.end())
    assert (verdict.verdict, verdict.doubts) == ("unknown", ("no check applied",))
    assert judge(History()).verdict == "unknown"


def test_a_check_that_crashes_is_nobodys_fault_and_no_pass() -> None:
    verdict = judge(_good().end(), extra=[_broken])
    assert verdict.verdict == "unknown"
    assert "_broken" in verdict.doubts[0]
    assert "ZeroDivisionError" in verdict.doubts[0]


def test_a_finding_is_worse_than_a_doubt() -> None:
    assert judge(_looping(), extra=[_broken]).verdict == "fail"


def test_checks_of_ones_own_are_asked_too_with_their_settings() -> None:
    story = _good(settings={"checks": {"_always": {"code": "mine.other"}}})
    assert codes(judge(story.end(), extra=[_always]).findings) == ["mine.other"]


def test_one_check_can_be_asked_alone() -> None:
    verdict = judge(_looping(), only="valid_request")
    assert (verdict.verdict, verdict.passed) == ("pass", ("valid_request",))
    with pytest.raises(InputError, match="did you mean 'valid_request'"):
        judge(_looping(), only="valid_reqest")


def test_a_check_that_is_asked_alone_and_does_not_apply_is_not_applicable() -> None:
    verdict = judge(_good(seams=("model",)).end(), only="durable_first")
    assert (verdict.verdict, verdict.passed) == ("not_applicable", ())
    assert (
        verdict.not_applicable[0].reason
        == "durable_first: needs the seam store and inbox and outbox"
    )


def test_a_known_defect_is_reported_and_does_not_fail() -> None:
    verdict = judge(_looping(expect={"known": ["no_progress_stop.same_call"]}))
    assert (verdict.verdict, codes(verdict.known)) == ("pass", ["no_progress_stop.same_call"])


def test_a_known_defect_that_no_longer_appears_fails() -> None:
    story = Story(settings={"expect": {"known": ["no_progress_stop.same_call"]}}).turn("go")
    history = loop(story, "list", 2).reply("x").final().end()
    assert codes(judge(history).findings) == ["expect.known_missing"]
    assert judge(history, only="valid_request").verdict == "pass"


def test_a_known_defect_whose_question_is_not_put_may_still_be_there() -> None:
    story = _good(settings={"expect": {"known": ["no_progress_stop.same_call"]}})
    assert judge(story.end()).verdict == "pass"


def test_an_expectation_that_cannot_be_read_is_a_doubt() -> None:
    assert judge(_good(settings={"expect": {"outcom": "x"}}).end()).verdict == "unknown"


@pytest.mark.parametrize(
    ("class_", "fail_on", "word"),
    [
        ("defect", "defect", "fail"),
        ("weakness", "defect", "pass"),
        ("weakness", None, "fail"),
        ("advice", None, "pass"),
        ("advice", "advice", "fail"),
    ],
)
def test_only_classes_above_the_line_fail(class_: Any, fail_on: Any, word: str) -> None:
    @needs("model")
    def mine(history: History) -> Iterator[Finding]:
        yield Finding("mine.found", "there it is", (1,), class_)

    asked = judge(_good().end(), extra=[mine], fail_on=fail_on)
    said = judge(_good(settings={"expect": {"fail_on": fail_on}}).end(), extra=[mine])
    assert (asked.verdict, said.verdict) == (word, word)
    assert codes(asked.findings) == codes(said.findings) == ["mine.found"]
    assert [bool(asked.failing), bool(asked.below)] == [word == "fail", word == "pass"]


def test_book_keeping_fails_whatever_the_line() -> None:
    verdict = judge(_good().end(unplayed=("turn #9",)), fail_on="defect")
    assert (verdict.verdict, codes(verdict.failing)) == ("fail", ["run.unplayed_turn"])


def test_what_is_asked_for_wins_over_what_the_history_says() -> None:
    history = _looping(expect={"fail_on": "defect"})
    assert (judge(history).verdict, judge(history).fail_on) == ("pass", "defect")
    assert judge(history, fail_on="weakness").verdict == "fail"
