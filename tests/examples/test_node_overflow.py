"""The Node agents and a history that is too long: as is, compacted, dropped, given up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.examples.world import (
    TOO_LONG,
    Reply,
    World,
    assert_paired,
    fail,
    say,
    sides,
    text_row,
    use,
)

pytestmark = pytest.mark.real


def long_history(world: World) -> None:
    """Six turns, about 12 000 characters."""
    rows = []
    for n in range(6):
        rows.append(text_row("user", f"question {n} " + "x" * 1000))
        rows.append(text_row("assistant", "y" * 1000))
    world.seed(*rows)


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
