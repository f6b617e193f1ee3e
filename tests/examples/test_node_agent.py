"""What both Node agents have in common, and what the careful one makes of errors."""

from __future__ import annotations

import signal

import pytest

from tests.examples.world import (
    World,
    assert_paired,
    events,
    fail,
    results_of,
    say,
    sse,
    text_row,
    use,
)

pytestmark = pytest.mark.real

STOP = {"type": "message_stop"}


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
    world.seed(text_row("user", "I am Kari"), text_row("assistant", "Hello Kari"))
    before = (world.session_dir / "seed.jsonl").read_bytes()
    world.write("Who am I?")
    world.script = [say("Kari")]
    world.run(careful=careful)
    assert len(world.requests[0]["messages"]) == 3
    assert len(world.rows()) == 2
    assert (world.session_dir / "seed.jsonl").read_bytes() == before


@pytest.mark.parametrize("careful", [True, False])
def test_sigterm_ends_an_idle_agent(world: World, careful: bool) -> None:
    world.inbox = [202] * 1_000_000
    process = world.start(careful=careful)
    assert world.asked.wait(timeout=30)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=10)
    assert process.returncode == 0


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
    whole = sse(events(use(("write", {"path": "/a"}), id="toolu_1")))
    world.script = [(200, {}, whole[: -len(sse([STOP]))])] * 5
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
