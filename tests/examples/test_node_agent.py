"""The Node example: the careful agent passes where the naive one shows the known failures."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest

from tests.examples.world import TOO_LONG, Reply, World, fail, say, sides, use

pytestmark = pytest.mark.real

BAD_INPUT = {"content": "old_text is required for replace", "is_error": True}


def text_row(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "blocks": [{"type": "text", "text": text}]}


def seed(world: World, *rows: dict[str, Any]) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (world.session_dir / "seed.jsonl").write_text(lines)


def long_history(world: World) -> None:
    """Six turns, about 12 000 characters."""
    for n in range(6):
        pair = [text_row("user", f"question {n} " + "x" * 1000), text_row("assistant", "y" * 1000)]
        path = world.session_dir / "seed.jsonl"
        old = path.read_text() if path.exists() else ""
        path.write_text(old + "".join(json.dumps(row) + "\n" for row in pair))


def results_of(request: dict[str, Any]) -> list[dict[str, Any]]:
    return [b for b in request["messages"][-1]["content"] if b["type"] == "tool_result"]


def assert_paired(request: dict[str, Any]) -> None:
    """Sides alternate, the user begins and ends, each call has its one result in the next message."""
    assert sides(request) == ["user", "assistant"] * (len(request["messages"]) // 2) + ["user"]
    for before, after in zip(request["messages"], request["messages"][1:], strict=False):
        calls = [b["id"] for b in before["content"] if b["type"] == "tool_use"]
        results = [b["tool_use_id"] for b in after["content"] if b["type"] == "tool_result"]
        assert calls == results


# --- every agent ---------------------------------------------------------------------------------


@pytest.mark.parametrize("careful", [True, "true", False])
@pytest.mark.parametrize("stream", [True, "true", False])
def test_a_turn_with_a_tool(world: World, careful: bool | str, stream: bool | str) -> None:
    world.offer("weather", "city")
    world.inbox.append(202)
    world.write("Weather in Tromsø?")
    world.script = [use(("weather", {"city": "Tromsø ☀"})), say("Sunny ☀")]
    world.run(careful=careful, stream=stream)
    assert world.calls == [("weather", {"city": "Tromsø ☀"})]
    assert [request.get("stream", False) for request in world.requests] == [bool(stream)] * 2
    reply = {"session": "main", "in_reply_to": "m1", "kind": "final"}
    assert world.outbox == [{**reply, "text": "Sunny ☀", "status": "ok"}]
    assert [row["role"] for row in world.rows()] == ["user", "assistant", "user", "assistant"]
    call, result = world.rows()[1]["blocks"][0], world.rows()[2]["blocks"][0]
    assert call == {
        "type": "tool_use",
        "id": call["id"],
        "name": "weather",
        "input": {"city": "Tromsø ☀"},
    }
    expected = {"type": "tool_result", "id": call["id"], "content": "done", "is_error": False}
    assert result == expected


@pytest.mark.parametrize("careful", [True, False])
def test_the_seed_is_the_beginning_and_stays_as_it_is(world: World, careful: bool) -> None:
    seed(world, text_row("user", "I am Kari"), text_row("assistant", "Hello Kari"))
    before = (world.session_dir / "seed.jsonl").read_bytes()
    world.write("Who am I?")
    world.script = [say("Kari")]
    world.run(careful=careful)
    assert len(world.requests[0]["messages"]) == 3
    assert len(world.rows()) == 2
    assert (world.session_dir / "seed.jsonl").read_bytes() == before


@pytest.mark.parametrize("careful", [True, False])
def test_sigterm_ends_an_idle_agent(world: World, careful: bool) -> None:
    world.inbox = [202] * 100_000
    process = world.start(careful=careful)
    while len(world.inbox) == 100_000:
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=10)
    assert process.returncode == 0


# --- empty inputs --------------------------------------------------------------------------------


def test_careful_stops_at_the_third_empty_call(world: World) -> None:
    world.offer("write", "path", "content")
    world.write("Write the report.")
    world.script = [use(("write", {})) for _ in range(3)] + [say("I could not write it.")]
    world.run(careful=True)
    assert world.calls == []
    assert len(world.requests) == 4
    guidance = results_of(world.requests[1])[0]
    assert guidance["is_error"]
    assert "missing required arguments of write: path, content" in guidance["content"]
    assert "tools" in world.requests[2]
    assert "tools" not in world.requests[3]
    assert_paired(world.requests[3])
    assert (world.outbox[0]["text"], world.outbox[0]["status"]) == (
        "I could not write it.",
        "failed",
    )


def test_careful_counts_empty_calls_in_a_row_only(world: World) -> None:
    world.offer("write", "path")
    world.write("Write.")
    empty, good = use(("write", {})), use(("write", {"path": "a"}))
    world.script = [empty, json.loads(json.dumps(empty)), good, empty | use(("write", {}))]
    world.script += [say("done")]
    world.run(careful=True)
    assert world.calls == [("write", {"path": "a"})]
    assert world.outbox[0]["status"] == "ok"


def test_careful_lets_tools_without_required_parameters_be_called_empty(world: World) -> None:
    world.offer("next_page")
    world.write("Read all.")
    world.tool = lambda name, given: (200, {"content": f"page {len(world.calls)}"})
    world.script = [use(("next_page", {})) for _ in range(8)] + [say("read")]
    world.run(careful=True)
    assert len(world.calls) == 8
    assert world.outbox[0]["status"] == "ok"


def test_naive_runs_empty_calls_for_as_long_as_they_come(world: World) -> None:
    world.offer("write", "path")
    world.write("Write.")
    world.tool = lambda name, given: (200, BAD_INPUT)
    world.script = [use(("write", {})) for _ in range(25)] + [say("Written!")]
    world.run()
    assert world.calls == [("write", {})] * 25
    assert world.outbox[0]["status"] == "ok"


# --- identical failures --------------------------------------------------------------------------


@pytest.mark.parametrize("failing", [True, False])
def test_careful_does_not_run_the_fourth_identical_call(world: World, failing: bool) -> None:
    world.offer("memory", "action")
    world.write("Remember.")
    world.tool = lambda name, given: (200, {**BAD_INPUT, "is_error": failing})
    orders: list[dict[str, Any]] = [{"action": "replace", "n": 1}, {"n": 1, "action": "replace"}]
    world.script = [use(("memory", orders[n % 2])) for n in range(4)] + [say("Not stored.")]
    world.run(careful=True)
    assert len(world.calls) == 3
    assert len(world.requests) == 5
    assert "tools" not in world.requests[4]
    assert world.outbox[0]["status"] == "failed"


def test_careful_stops_at_one_error_under_changing_arguments(world: World) -> None:
    world.offer("memory", "n")
    world.write("Remember.")
    world.tool = lambda name, given: (200, BAD_INPUT)
    world.script = [use(("memory", {"n": n})) for n in range(5)] + [say("Not stored.")]
    world.run(careful=True)
    assert len(world.calls) == 4
    assert world.outbox[0]["status"] == "failed"


def test_careful_forgets_failures_when_the_tool_succeeds(world: World) -> None:
    world.offer("memory", "n")
    world.write("Remember.")
    world.tool = lambda name, given: (
        200,
        {"content": "ok", "is_error": False} if len(world.calls) == 3 else BAD_INPUT,
    )
    world.script = [use(("memory", {"n": 1})) for _ in range(6)] + [say("Stored.")]
    world.run(careful=True)
    assert len(world.calls) == 6
    assert world.outbox[0]["status"] == "ok"


def test_careful_leaves_a_poller_alone(world: World) -> None:
    world.offer("poll", "job")
    world.write("Wait for it.")
    world.tool = lambda name, given: (200, {"content": f"{len(world.calls)} of 10"})
    world.script = [use(("poll", {"job": 7})) for _ in range(10)] + [say("Ready.")]
    world.run(careful=True)
    assert len(world.calls) == 10
    assert world.outbox[0]["status"] == "ok"


def test_careful_answers_all_calls_of_a_stopped_batch(world: World) -> None:
    world.offer("memory", "n")
    world.write("Remember.")
    world.tool = lambda name, given: (200, BAD_INPUT)
    batch = use(*[("memory", {"n": 1})] * 5)
    world.script = [batch, say("Not stored.")]
    world.run(careful=True)
    assert len(world.calls) == 3
    assert len(results_of(world.requests[1])) == 5
    assert_paired(world.requests[1])


def test_careful_speaks_for_itself_when_the_last_call_fails(world: World) -> None:
    world.offer("write", "path")
    world.write("Write.")
    world.script = [use(("write", {})) for _ in range(3)]
    world.run(careful=True)
    assert world.outbox[0]["status"] == "failed"
    assert "not done" in world.outbox[0]["text"]


def test_careful_makes_at_most_twenty_model_calls(world: World) -> None:
    world.offer("step", "n")
    world.write("Walk.")
    world.tool = lambda name, given: (200, {"content": str(given)})
    world.script = [use(("step", {"n": n})) for n in range(30)]
    world.script[19] = say("I stopped on the way.")
    world.run(careful=True)
    assert len(world.requests) == 20
    assert len(world.calls) == 18
    assert world.outbox[0]["text"] == "I stopped on the way."
    assert world.outbox[0]["status"] == "failed"


# --- prompt too long -----------------------------------------------------------------------------

OVERFLOWS: list[Reply | dict[str, Any]] = [
    TOO_LONG,
    fail(413, "request_too_large", "Request exceeds the maximum size"),
    (413, {}, b"<html>413</html>"),
    say("cut", stop="model_context_window_exceeded"),
    (
        200,
        {},
        b'event: error\ndata: {"type":"error","error":{"type":"invalid_request_error",'
        b'"message":"prompt is too long: 9 tokens > 8 maximum"}}\n\n',
    ),
]


@pytest.mark.parametrize("overflow", OVERFLOWS, ids=["400", "413", "html", "stop", "sse"])
def test_careful_compacts_once(world: World, overflow: Reply | dict[str, Any]) -> None:
    long_history(world)
    world.write("And now?")
    world.script = [overflow, say("We spoke of x."), say("Now this.")]
    world.run(careful=True, stream=isinstance(overflow, tuple) and overflow[0] == 200)
    assert world.purposes == ["main", "compact", "main"]
    first, summary, second = (len(json.dumps(r["messages"])) for r in world.requests)
    assert summary < first * 0.9
    assert second < first * 0.8
    assert_paired(world.requests[2])
    last = json.dumps(world.requests[2]["messages"])
    assert "We spoke of x." in last
    assert "And now?" in last
    assert "question" not in last
    assert world.outbox[0]["text"] == "Now this."
    assert len(world.rows()) == 2


def test_careful_keeps_an_accepted_summary_for_later_turns(world: World) -> None:
    long_history(world)
    world.write("One", "m1")
    world.write("Two", "m2")
    world.script = [TOO_LONG, say("We spoke of x."), say("1"), say("2")]
    world.run(careful=True)
    assert world.purposes == ["main", "compact", "main", "main"]
    assert "We spoke of x." in json.dumps(world.requests[3])
    assert [r["text"] for r in world.outbox] == ["1", "2"]


@pytest.mark.parametrize(
    "summary",
    [say(""), say("  \n"), say("y" * 20_000), say("half", stop="max_tokens"), TOO_LONG],
    ids=["empty", "blank", "bigger", "cut", "refused"],
)
def test_careful_drops_when_the_summary_is_no_good(
    world: World, summary: Reply | dict[str, Any]
) -> None:
    long_history(world)
    world.write("And now?")
    world.script = [TOO_LONG, summary, say("Now this.")]
    world.run(careful=True)
    assert world.purposes == ["main", "compact", "main"]
    assert world.requests[2]["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "And now?"}]}
    ]
    assert world.outbox[0]["status"] == "ok"


def test_careful_gives_up_after_three_attempts(world: World) -> None:
    long_history(world)
    world.write("And now?")
    world.script = [TOO_LONG, say("We spoke of x."), TOO_LONG, TOO_LONG, say("never asked for")]
    world.run(careful=True)
    assert world.purposes == ["main", "compact", "main", "main"]
    assert len({json.dumps(r) for r in world.requests}) == 4
    (reply,) = world.outbox
    assert (reply["kind"], reply["text"]) == ("error", "conversation too long")
    assert reply["status"] == "failed"


def test_careful_does_not_repeat_a_lone_message_that_is_too_long(world: World) -> None:
    world.write("x" * 5000)
    world.script = [TOO_LONG, say("never asked for")]
    world.run(careful=True)
    assert world.purposes == ["main"]
    assert world.outbox[0]["text"] == "conversation too long"


def test_careful_drops_the_results_of_its_own_turn_too(world: World) -> None:
    world.offer("read", "path")
    world.write("Read it.")
    world.tool = lambda name, given: (200, {"content": "z" * 9000})
    world.script = [use(("read", {"path": "a"})), TOO_LONG, say("It is too big for me.")]
    world.run(careful=True)
    assert world.purposes == ["main"] * 3
    assert sides(world.requests[2]) == ["user"]
    assert "1 tool calls were already answered" in json.dumps(world.requests[2])
    assert len(world.calls) == 1


def test_careful_is_not_misled_by_an_answer_about_overflow(world: World) -> None:
    world.write("What does the error say?")
    world.script = [say("It says: prompt is too long.")]
    world.run(careful=True)
    assert world.purposes == ["main"]
    assert world.outbox[0]["status"] == "ok"


def test_naive_compacts_again_and_again(world: World) -> None:
    long_history(world)
    world.write("And now?")
    world.script = [TOO_LONG, say("y" * 500)] * 11
    world.run()
    assert world.purposes.count("compact") == 10
    assert world.outbox[0]["status"] == "ok"


# --- gateway -------------------------------------------------------------------------------------

FLAWED = [
    text_row("assistant", "left over"),
    text_row("user", "are you there?"),
    text_row("user", "hello?"),
    text_row("assistant", "   "),
    {
        "role": "assistant",
        "blocks": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}],
    },
    text_row("user", "never mind"),
    {
        "role": "user",
        "blocks": [{"type": "tool_result", "id": "toolu_9", "content": "x", "is_error": False}],
    },
    text_row("assistant", "fine"),
    text_row("user", "unanswered"),
]


def test_careful_stores_all_of_five_turns_on_a_flawed_history(world: World) -> None:
    seed(world, *FLAWED)
    for n in range(5):
        world.write(f"question {n}", f"m{n}")
    world.script = [say(f"answer {n}") for n in range(5)]
    world.run(careful=True)
    assert [row["blocks"][0]["text"] for row in world.rows()] == [
        f"{word} {n}" for n in range(5) for word in ("question", "answer")
    ]
    assert [reply["text"] for reply in world.outbox] == [f"answer {n}" for n in range(5)]
    for n, request in enumerate(world.requests):
        assert_paired(request)
        assert request["messages"][: 2 * n] == world.requests[0]["messages"][: 2 * n][: 2 * n] or n
        assert "toolu_9" not in json.dumps(request)
        assert world.rows_at_request[n][-1]["id"] == f"m{n}"
        assert world.rows_at_delivery[n][-1]["in_reply_to"] == f"m{n}"


def test_naive_sends_the_flaws_as_they_are_and_stores_late(world: World) -> None:
    seed(world, text_row("user", "are you there?"))
    world.write("hello?")
    world.script = [say("Yes.")]
    world.run()
    assert sides(world.requests[0]) == ["user", "user"]
    assert world.rows_at_request == [[]]
    assert world.rows_at_delivery == [[]]


def test_careful_ignores_a_message_that_comes_again(world: World) -> None:
    world.write("hello")
    world.write("hello")
    world.script = [say("Hi."), say("Hi again.")]
    world.run(careful=True)
    world.write("hello")
    world.run(careful=True)
    assert len(world.requests) == 1
    assert len(world.outbox) == 1
    assert len(world.rows()) == 2


def test_careful_reports_a_turn_that_a_crash_cut_short(world: World) -> None:
    row = {**text_row("user", "hello"), "id": "m1"}
    torn = '{"role":"assistant","blo'
    (world.session_dir / "session.jsonl").write_text(json.dumps(row) + "\n" + torn)
    world.write("hello")
    world.write("still there?", "m2")
    world.script = [say("Yes.")]
    world.run(careful=True)
    assert [(r["in_reply_to"], r["status"]) for r in world.outbox] == [
        ("m1", "failed"),
        ("m2", "ok"),
    ]
    assert_paired(world.requests[0])
    assert [row["role"] for row in world.rows()] == ["user", "assistant"] * 2


def test_careful_delivers_a_stored_reply_that_the_outbox_never_took(world: World) -> None:
    world.outbox_refusals = 3
    world.write("hello")
    world.script = [say("Hi.")]
    world.run(careful=True)
    assert world.outbox == []
    world.write("hello")
    world.run(careful=True)
    assert [reply["text"] for reply in world.outbox] == ["Hi."]
    assert len(world.requests) == 1


def test_careful_stores_nothing_of_a_blank_message(world: World) -> None:
    world.write(" \n ")
    world.run(careful=True)
    assert world.requests == []
    assert world.rows() == []
    assert world.outbox[0]["status"] == "failed"


# --- errors and odd replies ----------------------------------------------------------------------


@pytest.mark.parametrize(("status", "attempts"), [(529, 3), (429, 3), (500, 3), (400, 1), (404, 1)])
def test_careful_retries_only_what_can_pass(world: World, status: int, attempts: int) -> None:
    world.write("hello")
    world.script = [fail(status, "some_error", "no", retry_after="0.01")] * 5
    world.run(careful=True)
    assert len(world.requests) == attempts
    assert (world.outbox[0]["kind"], world.outbox[0]["status"]) == ("error", "failed")


@pytest.mark.parametrize("headers", [{"x_should_retry": "false"}, {"retry_after": "86400"}])
def test_careful_does_not_retry_against_the_servers_word(
    world: World, headers: dict[str, str]
) -> None:
    world.write("hello")
    world.script = [fail(529, "overloaded_error", "busy", **headers), say("never asked for")]
    world.run(careful=True)
    assert len(world.requests) == 1
    assert world.outbox[0]["status"] == "failed"


def test_careful_goes_on_after_a_busy_server(world: World) -> None:
    world.write("hello")
    world.script = [fail(529, "overloaded_error", "busy", retry_after="0.01"), say("Hi.")]
    world.run(careful=True)
    assert (world.outbox[0]["text"], world.outbox[0]["status"]) == ("Hi.", "ok")


def test_naive_resends_what_was_refused_and_calls_it_a_success(world: World) -> None:
    world.write("hello")
    world.script = [fail(400, "invalid_request_error", "no")] * 5
    world.run()
    assert [request == world.requests[0] for request in world.requests] == [True] * 3
    assert (world.outbox[0]["kind"], world.outbox[0]["status"]) == ("final", "ok")


def test_careful_does_not_run_a_call_that_was_cut_off(world: World) -> None:
    world.offer("write", "path")
    world.write("Write.")
    world.script = [use(("write", {"path": "/a"}), stop="max_tokens"), say("Too long for me.")]
    world.run(careful=True)
    assert world.calls == []
    assert results_of(world.requests[1])[0]["is_error"]


def test_careful_does_not_use_a_stream_that_ends_early(world: World) -> None:
    world.offer("write", "path")
    world.write("Write.")
    whole = b'data: {"type":"message_start","message":{}}\n\ndata: {"type":"content_block_start",'
    whole += b'"index":0,"content_block":{"type":"tool_use","id":"t","name":"write","input":{}}}\n\n'
    world.script = [(200, {}, whole)] * 5
    world.run(careful=True, stream=True)
    assert world.calls == []
    assert len(world.requests) == 2
    assert world.outbox[0]["status"] == "failed"


@pytest.mark.parametrize(("second", "status"), [("Here.", "ok"), ("", "failed")])
def test_careful_asks_once_more_after_an_empty_reply(
    world: World, second: str, status: str
) -> None:
    world.write("hello")
    world.script = [say(""), say(second), say("never asked for")]
    world.run(careful=True)
    assert len(world.requests) == 2
    assert world.requests[0] != world.requests[1]
    assert world.outbox[0]["status"] == status
    assert [row["role"] for row in world.rows()] == ["user", "assistant"]


@pytest.mark.parametrize("stop", ["max_tokens", "refusal"])
def test_careful_does_not_call_a_bad_end_ok(world: World, stop: str) -> None:
    world.write("hello")
    world.script = [say("Half an ans", stop=stop)]
    world.run(careful=True)
    assert world.outbox[0]["status"] not in ("ok", None)


def test_careful_tells_the_model_of_unknown_and_broken_tools(world: World) -> None:
    world.offer("broken", "n")
    world.write("Try.")
    world.tool = lambda name, given: (500, {})
    world.script = [use(("nosuch", {"n": 1}), ("broken", {"n": 1})), say("Neither works.")]
    world.run(careful=True)
    assert world.calls == [("broken", {"n": 1})]
    unknown, broken = results_of(world.requests[1])
    assert unknown["is_error"]
    assert "no tool nosuch" in unknown["content"]
    assert broken["is_error"]
    assert "500" in broken["content"]


def test_careful_keeps_ids_unique(world: World) -> None:
    world.offer("look", "n")
    world.write("Look.")
    world.script = [use(("look", {"n": n}), id="toolu_1") for n in range(2)] + [say("Seen.")]
    world.run(careful=True)
    assert_paired(world.requests[2])
    blocks = [b for message in world.requests[2]["messages"] for b in message["content"]]
    ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert len(set(ids)) == 2
