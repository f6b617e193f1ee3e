"""Of a recording only those checks are asked that it can answer; the others say why not."""

from __future__ import annotations

import pytest

from harness.checks.judge import checks, judge
from harness.checks.recorded import MESSAGES, REQUESTS
from harness.core.values.messages import ToolResult, ToolUse, assistant, results, user
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript

SAID = (
    user("a"),
    assistant(ToolUse("t1", "find", {})),
    results(ToolResult("t1", "x")),
    assistant("A."),
)


@pytest.mark.parametrize(
    ("exchange", "told"), [(False, MESSAGES), (True, MESSAGES | REQUESTS)], ids=["log", "exchange"]
)
def test_what_is_asked_of_a_recording(exchange: bool, told: frozenset[str]) -> None:
    transcript = Transcript(
        name="s", wire="anthropic", messages=SAID, exchange=exchange, answered=exchange
    )
    verdict = judge(to_history(transcript))
    assert (verdict.verdict, set(verdict.passed)) == ("pass", told)
    reasons = {n.check: n.reason for n in verdict.not_applicable}
    assert reasons.keys() == checks().keys() - told
    assert reasons["no_false_stop"] == reasons["script"] == "a recording does not tell"
    assert reasons["truthful_outcome"] == "needs the seam outbox"


def test_one_check_that_cannot_be_asked_is_unknown() -> None:
    verdict = judge(to_history(Transcript(name="s", messages=SAID)), only="backoff")
    assert (verdict.verdict, verdict.doubts) == ("unknown", ("no check applied",))


def test_a_check_of_ones_own_is_asked() -> None:
    def mine(history: object) -> list[object]:
        return []

    verdict = judge(to_history(Transcript(name="s", messages=SAID)), extra=[mine])  # type: ignore[list-item]
    assert "mine" in verdict.passed
