"""Statements 44 to 57: which attempts are made when the prompt is too long, and which are not."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from harness.agent import agent as reference
from harness.agent.sessions.jsonl_conversation import messages_of
from harness.agent.sessions.session_archive import Archive, ArchivedTranscript
from harness.agent.turn_policy import Policy
from harness.core.values.messages import assistant, user
from harness.runner import run
from tests.agent.replies import error, error_body, message_events, sse, text, too_long, use
from tests.agent.stand import Stand
from tests.scenarios.all_runs import named
from tests.seeds.caught import caught
from tests.seeds.long_talk import LONG, PAST, SUMMARY, ends, said, stand

FINE = [("final", "ok", "fine")]


def loaded(ran: Stand) -> str:
    """What the next turn would find, as text."""
    return "\n".join(row.message.text for row in ran.store.load("main"))


def archived(ran: Stand) -> Archive:
    """Run with an archive, which other programs resume from."""
    archive = Archive(ran.session_dir / "claude", ran.session_dir)
    ran.run(transcript=partial(ArchivedTranscript, archive))
    return archive


@pytest.mark.seed(44)
def test_without_an_error_there_is_one_attempt(tmp_path: Path) -> None:
    ran = stand(tmp_path, text("fine"))
    archive = archived(ran)
    assert ran.provider.purposes == ["main"]
    assert ends(ran) == FINE
    assert messages_of(archive.read("main")[0]) == ran.rows()
    assert ran.rows() == [*PAST, user("and now?"), assistant("fine")]


@pytest.mark.seed(45)
def test_the_second_attempt_has_the_compacted_history(tmp_path: Path) -> None:
    ran = stand(tmp_path, too_long(), text("fine")).run()
    assert ran.provider.purposes == ["main", "compact", "main"]
    sent = said(ran.provider.requests[2])
    assert SUMMARY in sent
    assert "two, the last answer" in sent
    assert sent.endswith("and now?")
    assert "first" not in sent
    assert ends(ran) == FINE
    assert SUMMARY in loaded(ran)


@pytest.mark.seed(46)
@pytest.mark.parametrize(
    "summary", [error(500, "down", "api_error"), too_long(), text("  "), text("c", stop="refusal")]
)
def test_without_a_compaction_the_second_attempt_is_the_store(tmp_path: Path, summary: Any) -> None:
    ran = stand(tmp_path, too_long(), text("fine"), summary=summary)
    archive = archived(ran)
    assert archive.read("main")[0] == b""
    assert ran.provider.purposes == ["main", "compact", "main"]
    assert "earlier messages were left out" in said(ran.provider.requests[2])
    assert ends(ran) == FINE
    assert loaded(ran).startswith("first")


@pytest.mark.seed(47)
def test_without_a_past_there_is_no_compaction(tmp_path: Path) -> None:
    ran = Stand(tmp_path, [too_long(), text("fine")], LONG * 99).run()
    assert ran.provider.purposes == ["main", "main"]
    first, second = (said(request) for request in ran.provider.requests)
    assert len(second) < len(first)
    assert ends(ran) == FINE


@pytest.mark.seed(47, kind="differs")
def test_without_a_past_a_short_question_is_not_made_longer(tmp_path: Path) -> None:
    """With nothing to leave out, another request would be the same one again."""
    ran = stand(tmp_path, too_long(), text("fine"), past=[]).run()
    assert ran.provider.purposes == ["main"]
    assert ends(ran)[0][:2] == ("error", "failed")


@pytest.mark.seed(48, kind="mutant")
def test_two_errors_mean_one_compaction_and_then_the_store(tmp_path: Path) -> None:
    ran = stand(tmp_path, too_long(), too_long(), text("fine")).run()
    assert ran.provider.purposes == ["main", "compact", "main", "main"]
    assert "left out" in said(ran.provider.requests[3])
    assert ends(ran) == FINE
    caught("compacts_twice")


@pytest.mark.seed(49)
@pytest.mark.parametrize(
    ("asked", "summary", "attempts"),
    [("and now?", SUMMARY, 3), ("and now?", " ", 2), (LONG * 99, SUMMARY, 3), (LONG * 99, " ", 3)],
)
def test_three_errors_are_the_end(tmp_path: Path, asked: str, summary: str, attempts: int) -> None:
    """There are two attempts where the store, rebuilt once, cannot be made smaller again."""
    past = PAST if asked == "and now?" else []
    ran = stand(tmp_path, too_long(), past=past, summary=text(summary), asked=(asked,)).run()
    assert ran.provider.purposes.count("main") == attempts
    [(kind, status, told)] = ends(ran)
    assert (kind, status) == ("error", "failed")
    assert told.count("all_attempts_exhausted") == 1
    assert "retry" not in told.lower()


@pytest.mark.seed(50)
@pytest.mark.parametrize(
    "failure",
    [
        error(401, "invalid key", "authentication_error"),
        error(400, "messages: odd"),
        error(404, "no such model", "not_found_error"),
    ],
)
def test_another_error_is_surfaced_at_once(tmp_path: Path, failure: Any) -> None:
    ran = stand(tmp_path, failure).run()
    assert ran.provider.purposes == ["main"]
    [(kind, status, told)] = ends(ran)
    assert (kind, status) == ("error", "failed")
    assert failure.json()["error"]["message"] in told


@pytest.mark.seed(50, kind="mutant")
def test_an_error_that_is_tried_again_as_it_is_is_caught() -> None:
    caught("blind_resend")


@pytest.mark.seed(51, kind="mutant")
def test_another_error_on_the_second_attempt_is_the_end(tmp_path: Path) -> None:
    ran = stand(tmp_path, too_long(), error(403, "not this model", "permission_error")).run()
    assert ran.provider.purposes == ["main", "compact", "main"]
    assert "not this model" in ends(ran)[0][2]
    caught("escalates_any_error")


@pytest.mark.seed(52, kind="mutant")
def test_a_compaction_equal_to_its_input_has_failed(tmp_path: Path) -> None:
    def echo(body: dict[str, Any]) -> Any:
        return text(body["messages"][0]["content"][0]["text"].split("\n\n", 1)[1])

    past = [user("a"), assistant("b")] * 40
    ran = stand(tmp_path, too_long(900_000, 800_000), text("fine"), past=past, summary=echo).run()
    assert ran.provider.purposes == ["main", "compact", "main"]
    assert "left out" in said(ran.provider.requests[2])
    assert ran.store.load("main")[0].message == past[0]
    caught("accepts_unchanged_summary")


@pytest.mark.seed(53, kind="mutant")
@pytest.mark.parametrize(
    "summary",
    [
        text(),
        text("cut off in the mid", stop="max_tokens"),
        use("look", {}, "t"),
        text(LONG * 9),
        httpx2.Response(200, content=b"<html>"),
    ],
)
def test_a_compaction_that_is_no_history_has_failed(tmp_path: Path, summary: Any) -> None:
    ran = stand(tmp_path, too_long(), text("fine"), summary=summary).run()
    assert ran.provider.purposes == ["main", "compact", "main"]
    assert loaded(ran).startswith("first")
    assert ends(ran) == FINE


@pytest.mark.seed(53, kind="mutant")
@pytest.mark.parametrize(
    "mutant",
    ["accepts_empty_summary", "accepts_cut_summary", "accepts_longer_summary", "splits_a_pair"],
)
def test_an_agent_that_accepts_it_is_caught(mutant: str) -> None:
    caught(mutant)


@pytest.mark.seed(54, kind="mutant")
def test_after_text_was_shown_there_is_no_retry(tmp_path: Path) -> None:
    events = message_events({**text("Day four"), "id": "m", "type": "message", "model": "claude"})
    refusal = {**error_body("prompt is too long: 9 tokens > 8 maximum"), "type": "error"}
    ran = stand(tmp_path, sse(*events[:3], refusal), text("never"))
    ran.options |= {"stream": True, "partial": True}
    ran.run()
    assert ran.provider.purposes == ["main"]
    assert [(s["kind"], s["text"]) for s in ran.said][:1] == [("partial", "Day four")]
    assert [kind for kind, _, _ in ends(ran)] == ["error"]
    caught("retries_after_text")


@pytest.mark.seed(54)
def test_text_of_an_answer_that_is_over_does_not_forbid_the_next_attempt(tmp_path: Path) -> None:
    """The request is made again, not the turn: what was shown is in the history, and stays."""
    first = {"content": [*text("Let me look.")["content"], *use("look", {"a": 1}, "t")["content"]]}
    ran = stand(tmp_path, {**first, "stop_reason": "tool_use"}, too_long(), text("fine"))
    ran.options["partial"] = True
    ran.tool("look", "seen")
    ran.run()
    assert [s["text"] for s in ran.said if s["kind"] == "partial"] == ["Let me look.", "fine"]
    assert ends(ran) == FINE


@pytest.mark.seed(55, kind="mutant")
@pytest.mark.parametrize("refusals", [1, 2])
def test_tools_that_ran_are_not_run_again(tmp_path: Path, refusals: int) -> None:
    replies = [use("book", {"a": 1}), *[too_long()] * refusals, text("fine")]
    ran = stand(tmp_path, *replies)
    ran.tool("book", "booked at seven" + ", in detail" * 20_000)
    ran.run()
    assert len(ran.calls) == 1
    assert "booked at seven" in str(ran.provider.requests[-1]["messages"])
    assert ends(ran) == FINE


@pytest.mark.seed(55, kind="mutant")
def test_a_retry_that_runs_them_again_is_reported() -> None:
    played = caught("replays_tools")
    codes = [finding.code for finding in played.verdict.findings]
    assert "effect_once.again" in codes


@pytest.mark.seed(56, kind="mutant")
def test_an_attempt_starts_from_the_history_as_it_was(tmp_path: Path) -> None:
    """Nothing of a failed attempt is kept: no half answer, no second question, and no count of
    tokens, for the agent adds up none."""
    half = text("Half of an", stop="model_context_window_exceeded")
    ran = stand(tmp_path, half, too_long(), text("fine")).run()
    assert ran.rows() == [*PAST, user("and now?"), assistant("fine")]
    assert "Half" not in str(ran.provider.requests[1:])
    for request in ran.provider.mains:
        assert said(request).count("and now?") == 1
    caught("asks_again_in_history")


@pytest.mark.seed(56)
def test_tokens_are_paid_once(tmp_path: Path) -> None:
    """A refused request costs nothing, and each answer 15 tokens: 31 pay for three of them."""
    ran = stand(tmp_path, too_long(), use("look", {"at": 1}), text("fine"))
    ran.tool("look", "seen")
    ran.run(policy=Policy(max_tokens=31))
    assert ran.provider.purposes == ["main", "compact", "main", "main"]
    assert ends(ran) == FINE
    (tmp_path / "poor").mkdir()
    poor = Stand(tmp_path / "poor", [use("look", {"at": n}) for n in range(4)], "look")
    poor.tool("look", "seen")
    assert len(poor.run(policy=Policy(max_tokens=31)).provider.requests) == 3


@pytest.mark.seed(57)
def test_a_transient_error_takes_no_attempt_of_the_escalation() -> None:
    history = run(named("overflow-shapes/overloaded-after-compaction"), reference).history
    statuses = [e.status for e in history.trace.exchanges if e.purpose == "main"]
    assert statuses == [413, 529, 529, 200]
    assert sum(e.purpose == "compact" for e in history.trace.exchanges) == 1


@pytest.mark.seed(57, kind="mutant")
def test_a_budget_that_is_set_anew_at_each_retry_is_an_endless_loop() -> None:
    played = caught("resets_backoff")
    assert len(played.history.trace.exchanges) >= 30
    name = "overflow-shapes/overloaded-for-ever-after-compaction"
    assert len(run(named(name), reference).history.trace.exchanges) == 5


@pytest.mark.seed(57, kind="differs")
def test_the_budget_of_broken_answers_outlasts_an_attempt(tmp_path: Path) -> None:
    """Differs: upstream gives each attempt a new budget. Here a request has one for all its
    attempts, so that a shorter prompt does not multiply the answers that break off."""
    broken = httpx2.Response(200, content=b"<html>")
    ran = stand(tmp_path, broken, too_long(), broken, text("never")).run()
    assert ran.provider.purposes == ["main", "main", "compact", "main"]
    assert [kind for kind, _, _ in ends(ran)] == ["error"]
