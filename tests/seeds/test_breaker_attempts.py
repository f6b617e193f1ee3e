"""Statements 13, 14, 26 to 32, 38 and 39: what a trip leaves behind.

Upstream an attempt fills a session and the builder of a transcript to upload, and a trip rolls the
one back and not the other. Here there is one list, of rows that are durable before they are used:
nothing is rolled back, each call has a result, and the next turn is told what really happened. The
counters of a context variable are guards that are made for each turn.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import msgspec
import pytest

from harness.agent.sessions.session_archive import Archive, ArchivedTranscript
from harness.core.values.brief import ToolError
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, ToolResult, ToolUse, assistant, results, user
from tests.agent.replies import text, too_long, use
from tests.agent.stand import Stand
from tests.seeds.caught import caught
from tests.seeds.guarding import passes

AGAIN = use("memory", {"action": "replace"})


def looping(folder: Path, *inbox: Inbound | str) -> Stand:
    """A model that repeats one failing call until its tools are withdrawn."""

    def reply(body: Any) -> Any:
        ended = body.get("tool_choice") == {"type": "none"}
        return text("I could not store that.") if ended else AGAIN

    stand = Stand(folder, [reply], *inbox)
    stand.tool("memory", ToolError("old_text is required"), required=["action"])
    return stand


def unanswered(rows: list[Message]) -> set[str]:
    """The calls in the rows that have no result there."""
    calls = {call.id for row in rows for call in row.tool_uses}
    return calls - {result.id for row in rows for result in row.tool_results}


@pytest.mark.seed(13)
def test_a_turn_that_is_taken_up_again_begins_with_counters_at_zero(tmp_path: Path) -> None:
    """A new attempt of us is a turn resumed after a kill: its guards are new. What ran before is
    in the history and not run again, so nothing is rolled back."""
    stand = looping(tmp_path)
    stand.store.accept(Inbound("m1", text="store it"), user("store it"))
    for n in range(3):
        call = ToolUse(f"t{n}", "memory", {"action": "replace"})
        stand.store.append("main", Message("assistant", (call,)))
        stand.store.append("main", results(ToolResult(call.id, "old_text", is_error=True)))
    stand.run()
    assert len(stand.calls) == 3
    assert stand.said[-1]["status"] == "failed"


@pytest.mark.seed(13)
def test_a_shorter_prompt_is_no_new_attempt_of_the_tools(tmp_path: Path) -> None:
    """Only the request is made again after an overflow; the calls that failed have failed."""
    stand = looping(tmp_path, "store it")
    stand.store.seed("main", [user("a" * 5000), assistant("b" * 5000)])
    reply = stand.provider.replies[0]
    refused: list[Any] = []

    def once_too_long(body: Any) -> Any:
        if len(stand.calls) == 2 and not refused:
            refused.append(body)
            return too_long()
        return reply(body)

    stand.provider.replies = [once_too_long]
    stand.provider.compact_replies = [text("They spoke of a and b.")]
    stand.run()
    assert refused
    assert len(stand.calls) == 3


@pytest.mark.seed(14, kind="mutant")
def test_sessions_have_counters_of_their_own(tmp_path: Path) -> None:
    stand = looping(
        tmp_path, Inbound("m1", session="a", text="x"), Inbound("m2", session="b", text="x")
    )
    stand.run()
    assert len(stand.calls) == 6
    caught("counters_shared_between_sessions")


@pytest.mark.seed(14)
def test_sessions_that_run_at_once_have_counters_of_their_own(tmp_path: Path) -> None:
    """Each call of one session fails between two calls of the other."""
    stands = []
    both = Barrier(2, timeout=20)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        stand = looping(tmp_path / name, Inbound("m1", session=name, text="x"))
        fail = stand.tools[0].call
        stand.tools[0] = msgspec.structs.replace(stand.tools[0], call=_together(both, fail))
        stands.append(stand)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(Stand.run, stands))
    assert [len(stand.calls) for stand in stands] == [3, 3]


def _together(both: Barrier, fail: Any) -> Any:
    def call(input: Any, id: str) -> Any:
        both.wait()
        return fail(input, id=id)

    return call


@pytest.mark.seed(26, kind="differs")
@pytest.mark.seed(30, kind="mutant")
def test_a_trip_is_told_once_and_stored_once(tmp_path: Path) -> None:
    """26 differs: the marker is the reply, one final with the status `failed`, in the model's words
    or ours. The outbox has no error codes, and no code retries a trip, so no flag allows it."""
    stand = looping(tmp_path, "store it").run()
    assert [(said["kind"], said["status"]) for said in stand.said] == [("final", "failed")]
    assert [row.text for row in stand.rows() if row.role == "assistant" and row.text] == [
        "I could not store that."
    ]
    caught("trip_is_told_twice")


@pytest.mark.seed(27, kind="mutant")
def test_a_trip_is_not_tried_again(tmp_path: Path) -> None:
    stand = looping(tmp_path, "store it").run()
    assert len(stand.calls) == 3
    assert stand.provider.purposes == ["main"] * 6
    caught("trip_is_retried")


@pytest.mark.seed(28, kind="mutant")
def test_a_trip_takes_nothing_back(tmp_path: Path) -> None:
    """Before #12918 the list was as before the attempt, and users lost their turn."""
    stand = looping(tmp_path, "store it").run()
    assert stand.sides == "u" + "au" * 5 + "a"
    caught("trip_rolls_rows_back")


@pytest.mark.seed(29, kind="mutant")
def test_after_a_trip_every_stored_call_has_its_result(tmp_path: Path) -> None:
    stand = looping(tmp_path, "store it").run()
    assert unanswered(stand.rows()) == set()
    assert stand.rows()[-1].text == "I could not store that."
    caught("trip_leaves_calls_open")


@pytest.mark.seed(31, kind="mutant")
def test_the_next_turn_goes_on_from_the_failed_one(tmp_path: Path) -> None:
    """What the store keeps of an aborted turn is what the next request holds, its end too."""
    stand = looping(tmp_path, "store it", "and now?").run()
    first = next(
        body
        for body in stand.provider.requests
        if "and now?" in str(body["messages"][-1]["content"])
    )
    assert first["messages"][-2]["content"][-1]["text"] == "I could not store that."
    assert len(stand.calls) == 6
    caught("aborted_turn_is_replayed")


@pytest.mark.seed(31)
def test_a_trip_is_not_exported_and_the_next_turn_is_told_by_the_store(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "claude", tmp_path)
    stand = looping(tmp_path, "store it")
    stand.run(transcript=partial(ArchivedTranscript, archive))
    assert archive.read("main")[0] == b""
    again = looping(tmp_path, Inbound("m2", text="and now?"))
    again.run(transcript=partial(ArchivedTranscript, archive))
    messages = again.provider.requests[0]["messages"]
    assert messages[-2]["content"][-1]["text"] == "I could not store that."


@pytest.mark.seed(32, kind="mutant")
def test_store_and_wire_are_one_list() -> None:
    """There is no second list that could differ; where one does, the checks on store and requests
    say so: rows that go (`gone`), and a turn that is shown and not stored."""
    trace = passes("empty-inputs/next-message").history.trace
    stored = {
        message.text for turn in trace.turns.values() for _, _, message in trace.rows_added(turn)
    }
    last = trace.exchanges[-1].node.messages
    assert {message.text for message in last} <= stored | {""}
    for name in ("trip_rolls_rows_back", "aborted_turn_is_replayed"):
        findings = caught(name).verdict.findings
        assert "reload_equivalence" in {f.code.split(".")[0] for f in findings}


@pytest.mark.seed(38, 39, kind="mutant")
def test_a_result_belongs_to_its_call_by_id(tmp_path: Path) -> None:
    """A result is created with the id of its call and never stored apart from it. It cannot be
    mistaken for the result of another call or of an earlier attempt."""
    passes("identical-failures/own-result-each")
    caught("results_stashed_by_name")


@pytest.mark.seed(39)
def test_a_call_after_a_retry_gets_its_own_result(tmp_path: Path) -> None:
    """The first result was given before the request failed; the call of the retry has another."""
    stand = Stand(tmp_path, [use("look", {"at": 1}), too_long(), use("look", {"at": 2})], "look")
    stand.provider.replies.append(text("seen"))
    stand.store.seed("main", [user("a" * 5000), assistant("b" * 5000)])
    stand.provider.compact_replies = [text("They spoke of a and b.")]
    stand.tool("look", lambda given: f"seen at {given['at']}", required=["at"])
    stand.run()
    found = [result.text for row in stand.rows() for result in row.tool_results]
    assert found == ["seen at 1", "seen at 2"]
