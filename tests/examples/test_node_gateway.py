"""The Node agents and their session: a flawed history, repeated messages, crashes."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from tests.examples.world import World, assert_paired, say, sides, text_row

pytestmark = pytest.mark.real


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
    world.seed(*FLAWED)
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
        assert "toolu_9" not in json.dumps(request)
        assert world.rows_at_request[n][-1]["id"] == f"m{n}"
        assert world.rows_at_delivery[n][-1]["in_reply_to"] == f"m{n}"
    sent = [request["messages"] for request in world.requests]
    for before, after in pairwise(sent):
        assert after[: len(before)] == before


def test_naive_sends_the_flaws_as_they_are_and_stores_late(world: World) -> None:
    world.seed(text_row("user", "are you there?"))
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
