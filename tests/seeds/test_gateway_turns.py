"""Statements 148, 159, 160 and what belongs to them: one turn a session, and its end is stored.

The order of a busy session, the cancel, and what the user sees of a turn are told here as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.agent import agent as reference
from harness.agent.outgoing import ENDED, STARTED
from harness.core.scenario.scenario import InboxItem
from harness.core.values.brief import ToolError
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, assistant, user
from harness.runner import run
from tests.agent.replies import error, message_events, sse, text, too_long, use, uses
from tests.agent.stand import Stand
from tests.scenarios.all_runs import all_runs, named
from tests.seeds.caught import caught, stored_sides

ENDINGS: dict[str, Any] = {
    "400": error(400, "no"),
    "401": error(401, "no key", "authentication_error"),
    "500": error(500, "down", "api_error"),
    "truncated call": use("look", {"a": 1}, stop="max_tokens"),
    "truncated text": text("half of", stop="max_tokens"),
    "refusal": text(stop="refusal"),
    "nothing": text(),
    "window": too_long(),
}
SEEDING_UPSTREAM = {"400", "401", "500", "truncated call", "window", "interrupt"}
"""The endings that left an unanswered user row upstream, and so a violation for the next turn."""


@pytest.mark.seed(148)
@pytest.mark.parametrize("name", ENDINGS)
def test_no_ending_leaves_an_unanswered_row(tmp_path: Path, name: str) -> None:
    ran = Stand(tmp_path, [ENDINGS[name]], "a")
    ran.tool("look", "seen")
    assert ran.run().sides[0] + ran.sides[-1] == "ua"
    assert set(ran.sides.split("ua")) == {""}
    assert ran.said[-1]["status"] != "ok"


@pytest.mark.seed(148, kind="mutant")
def test_the_endings_that_seed_a_violation_are_listed_and_caught(tmp_path: Path) -> None:
    caught("failure_leaves_no_row")
    assert set(ENDINGS) | {"interrupt"} >= SEEDING_UPSTREAM
    variants = {played.variant for played in all_runs() if played.name == "bad-endings"}
    assert {"", "not-authorised", "server-error", "truncated-call"} <= variants


@pytest.mark.seed(148)
@pytest.mark.parametrize("asked", range(6))
def test_an_interrupt_is_answered_with_a_notice(tmp_path: Path, asked: int) -> None:
    ran = Stand(tmp_path, [uses(("a", "look", {}), ("b", "look", {"n": 2})), text("k")], "a")
    ran.tool("look", "seen")
    answers = iter(range(99))
    ran.is_cancelled = lambda: next(answers) >= asked
    assert ran.run().ending[:2] == ("notice", "cancelled")
    assert set(ran.sides.split("ua")) == {""}


@pytest.mark.seed(159, kind="mutant")
def test_two_turns_at_once_are_caught_and_messages_wait_in_order() -> None:
    played = caught("two_turns_at_once")
    assert "turn_serial.overlap" in [f.code for f in played.verdict.findings]
    assert "uu" in stored_sides(played)
    caught("drops_while_busy")
    history = run(named("busy"), reference).history
    ends = [s.request.in_reply_to for s in history.trace.sendings if s.ends_turn]
    assert ends == ["m1", "m2", "m3"]


@pytest.mark.seed(159)
def test_sessions_may_alternate_and_stay_apart() -> None:
    busy = named("busy")
    inbox = tuple(
        InboxItem(id=item.id, text=item.text, session=session, when="start")
        for item, session in zip(busy.inbox, ("left", "right", "left"), strict=True)
    )
    played = run(msgspec.structs.replace(busy, inbox=inbox), reference)
    assert played.verdict.findings == ()
    asked = [e for e in played.history.trace.exchanges if e.called.session == "right"]
    assert [m.text for m in asked[0].node.messages] == ["Which year is it?"]


@pytest.mark.seed(160, kind="mutant")
def test_what_a_summary_covers_is_not_loaded_again_and_no_duplicate() -> None:
    caught("reloads_archived_rows")
    played = run(named("compacted-before"), reference)
    assert not any(event.gone for event in played.history.trace.stored)
    last = played.history.trace.exchanges[-1].node.messages
    assert last[0].text.startswith("Summary of the conversation")
    assert [f.code for f in played.verdict.findings] == []


@pytest.mark.seed(160, kind="not ours")
def test_a_session_is_never_rotated(tmp_path: Path) -> None:
    """A compaction makes no child session here, so there is no child id to follow: the summary
    stands beside the rows of the same session."""
    ran = shortened(tmp_path)
    assert {said["session"] for said in ran.said} == {"main"}
    assert ran.store.load("main")[0].id == ""


def shortened(folder: Path) -> Stand:
    """A turn whose history is compacted."""
    ran = Stand(folder, [too_long(), text("answer")], "so?")
    ran.provider.compact_replies = [text("They talked.")]
    ran.store.seed("main", [m for n in range(3) for m in _talk(n)])
    return ran.run()


def _talk(n: int) -> tuple[Message, Message]:
    return user(f"question {n} " + "a" * 900), assistant(f"answer {n} " + "b" * 900)


def test_a_compaction_is_told_at_its_begin_and_its_end(tmp_path: Path) -> None:
    told = [(s["kind"], s["status"], s["text"]) for s in shortened(tmp_path).said]
    assert told == [
        ("compaction", "started", STARTED),
        ("compaction", "ended", ENDED),
        ("final", "ok", "answer"),
    ]


def test_two_notices_of_one_compaction_are_one_compaction() -> None:
    trace = run(named("compacted-before"), reference).history.trace
    assert len(trace.compactions) == 1


def test_text_that_was_shown_is_not_asked_for_again(tmp_path: Path) -> None:
    whole: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "x",
        "usage": {},
    }
    whole |= {"content": [{"type": "text", "text": "Half"}], "stop_reason": "end_turn"}
    cut = sse(*message_events(whole)[:-2])
    for partial, requests, ending in [(True, 1, "error"), (False, 2, "final")]:
        ran = Stand(tmp_path, [cut, text("Half and half")], Inbound(f"m{requests}", text="a"))
        ran.options = {"partial": partial, "stream": True}
        ran.run()
        assert [s["text"] for s in ran.said if s["kind"] == "partial"] == ["Half"] * partial
        assert (len(ran.provider.requests), ran.said[-1]["kind"]) == (requests, ending)


def test_what_was_shown_before_a_cancel_is_kept_and_not_said_twice(tmp_path: Path) -> None:
    ran = Stand(tmp_path, [text("Half of it")], "a")
    ran.options = {"partial": True}
    ran.is_cancelled = lambda: any(s["kind"] == "partial" for s in ran.said)
    ran.run()
    assert [s["kind"] for s in ran.said] == ["partial", "notice"]
    assert "Half" not in ran.said[-1]["text"]
    assert ran.rows()[-1].text.startswith("Half of it\n")


@pytest.mark.parametrize(
    ("failure", "code", "retryable"),
    [
        (error(400, "no"), "request_refused", 0),
        (error(500, "down", "api_error"), "model_unavailable", 1),
        (too_long(), "all_attempts_exhausted", 0),
    ],
)
def test_an_error_has_a_code_and_at_most_one_mark(
    tmp_path: Path, failure: Any, code: str, retryable: int
) -> None:
    ran = Stand(tmp_path, [failure], "a").run()
    assert ran.said[-1]["kind"] == "error"
    assert (ran.said[-1]["text"].count(code), ran.said[-1]["text"].count("retryable")) == (
        1,
        retryable,
    )
    assert ran.rows()[-1].text == ran.said[-1]["text"]


def test_a_long_turn_gives_a_sign_of_life(tmp_path: Path) -> None:
    ran = Stand(tmp_path, [use("wait", {"n": 1}), use("wait", {"n": 2}), text("done")], "a")
    now_ms = [0]
    ran.clock.now_ms = lambda: now_ms[0]  # type: ignore[method-assign]
    ran.options = {"heartbeat_s": 30}

    def wait(_: Any) -> str:
        now_ms[0] += 31_000
        return str(now_ms)

    ran.tool("wait", wait, ["n"])
    assert [s["kind"] for s in ran.run().said] == ["heartbeat", "heartbeat", "final"]


def test_a_cancel_with_a_new_message_answers_only_the_new_one() -> None:
    caught("cancel_ignored")
    trace = run(named("cancel/with-a-new-message"), reference).history.trace
    assert [s.request.in_reply_to for s in trace.sendings if s.ends_turn] == ["m2"]
    assert trace.executions == []


def test_a_cancel_stops_the_rest_of_a_batch() -> None:
    trace = run(named("cancel/between-tools"), reference).history.trace
    assert len(trace.executions) == 1


def test_a_message_that_comes_again_while_busy_is_answered_once(tmp_path: Path) -> None:
    once, again = Inbound("m1", text="a"), Inbound("m1", text="a")
    ran = Stand(tmp_path, [use("look", {"n": 1}), text("x")], once, again, Inbound("m2", text="b"))
    ran.tool("look", ToolError("no"))
    assert [s["to"] for s in ran.run().said] == ["m1", "m2"]
