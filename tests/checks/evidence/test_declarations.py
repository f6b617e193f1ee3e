"""What a check declares holds: what it is asked of, what excuses, what an overlay sets aside.

Of a recording only those checks are asked that it can answer; the others say why not. Under an
overlay of faults the counts of a scenario are set aside, and nothing else is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.checks import Finding, History
from harness.checks.judge import checks, judge
from harness.core.values.messages import ToolResult, ToolUse, assistant, results, user
from harness.core.values.verdict import Verdict
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript
from tests.checks.histories import Story

MESSAGES = {
    "role_alternation",
    "tool_pairing",
    "unique_tool_ids",
    "wellformed_text",
    "args_complete",
    "session_answers",
}
REQUESTS = {"nonblank_content"}
COUNTS_REASON = "an overlay changes how many calls there are"
REASONS = {
    "expect.outcome": "an overlay changes how a run may end",
    "expect.calls": COUNTS_REASON,
    "expect.inputs": "an overlay changes which calls the scenario's own faults meet",
    "expect.waits": "an overlay changes how often an agent waits",
    "run.unplayed_turn": COUNTS_REASON,
    "script.exhausted": COUNTS_REASON,
}

SAID = (
    user("a"),
    assistant(ToolUse("t1", "find", {})),
    results(ToolResult("t1", "x")),
    assistant("A."),
)


@pytest.mark.parametrize(
    ("exchange", "told"), [(False, MESSAGES), (True, MESSAGES | REQUESTS)], ids=["log", "exchange"]
)
def test_what_is_asked_of_a_recording(exchange: bool, told: set[str]) -> None:
    transcript = Transcript(
        name="s", wire="anthropic", messages=SAID, exchange=exchange, answered=exchange
    )
    verdict = judge(to_history(transcript))
    assert (verdict.verdict, set(verdict.passed)) == ("pass", told)
    reasons = {n.check: n.reason for n in verdict.not_applicable}
    assert reasons.keys() >= checks().keys() - told
    assert all("." in name for name in reasons.keys() - checks().keys())
    assert reasons["no_progress_stop"].startswith("not asked: no repeated tool call")
    assert reasons["no_false_stop"] == reasons["script"] == "a recording does not tell"
    assert reasons["truthful_outcome"] == "needs the seam outbox"
    assert reasons["valid_request"] == "needs the rules of a dialect"
    by_rules = judge(to_history(transcript, "anthropic-2026"))
    assert set(by_rules.passed) == told | {"valid_request"}


def test_one_check_that_cannot_be_asked_is_not_applicable() -> None:
    verdict = judge(to_history(Transcript(name="s", messages=SAID)), only="backoff")
    assert (verdict.verdict, verdict.doubts, verdict.passed) == ("not_applicable", (), ())
    assert verdict.not_applicable[0].reason == "backoff: a recording does not tell"


def test_a_check_of_ones_own_is_asked() -> None:
    def mine(history: History) -> Iterator[Finding]:
        """Every request is there."""
        yield from (Finding("mine.gone", "gone") for e in history.trace.exchanges if not e.n)

    verdict = judge(to_history(Transcript(name="s", messages=SAID)), extra=[mine])
    assert "mine" in verdict.passed


COUNTS = {
    "outcome": "failed_truthfully",
    "calls": {"model": {"max": 1}},
    "inputs": {"list": {"path": "/elsewhere"}},
    "waits_s": [3],
}


def _judged(expect: dict[str, Any], *, overlaid: bool) -> Verdict:
    settings = {"expect": expect, **({"overlaid": True} if overlaid else {})}
    story = Story(settings=settings).turn("go").fail(529).wait(500).reply("done").final()
    return judge(story.end(unplayed=("turn #9",)))


@pytest.mark.parametrize("overlaid", [False, True])
def test_counts_hold_without_an_overlay_only(overlaid: bool) -> None:
    codes = {f.code for f in _judged(COUNTS, overlaid=overlaid).findings}
    counted = {"expect.outcome", "expect.calls", "expect.waits", "run.unplayed_turn"}
    assert codes == (set() if overlaid else counted)


def test_what_is_set_aside_is_listed_with_its_reason() -> None:
    listed = {n.check: n.reason for n in _judged(COUNTS, overlaid=True).not_applicable}
    assert REASONS.items() <= listed.items()
    assert not REASONS.keys() & {n.check for n in _judged(COUNTS, overlaid=False).not_applicable}


def test_what_the_scenario_does_not_expect_is_not_listed() -> None:
    listed = {n.check for n in _judged({}, overlaid=True).not_applicable}
    assert listed & REASONS.keys() == {"run.unplayed_turn", "script.exhausted"}


def test_what_is_forbidden_stays_forbidden() -> None:
    verdict = _judged({**COUNTS, "must_not": {"say": ["done"]}}, overlaid=True)
    assert [f.code for f in verdict.findings] == ["expect.must_not"]


def test_a_known_defect_of_a_count_is_not_missed() -> None:
    known = ["expect.calls", "script.exhausted"]
    verdict = _judged({**COUNTS, "known": known}, overlaid=True)
    assert (verdict.findings, verdict.known) == ((), ())


def test_one_check_alone_lists_its_own() -> None:
    story = Story(settings={"expect": COUNTS, "overlaid": True}).turn("go").reply("x").final()
    verdict = judge(story.end(), only="script")
    assert [n.check for n in verdict.not_applicable] == ["script.exhausted"]
