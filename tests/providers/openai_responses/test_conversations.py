"""What the server keeps: a request that names what came before is the whole conversation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.values.draws import Draws
from harness.core.values.messages import (
    Block,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    user,
)
from harness.core.values.plans import ApiError, Recorded, Reply
from harness.providers.openai_responses import conversations
from harness.providers.openai_responses.conversations import ItemNode
from tests.providers.openai_responses.strategies import said
from tests.providers.openai_responses.world import WIRE, Server, body, reader
from tests.providers.sends import joined

LOOK = Reply((Thinking("why", "s"), Text("so"), ToolUse("c1", "read", {"a": 1})), "tool_use")
DONE = Reply((Text("done"),))
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
FIRST, ANSWERED = user("go"), assistant(*LOOK.blocks)
RESULT = Message("user", (ToolResult("c1", "ok"),))


def test_a_request_goes_on_from_the_response_that_it_names() -> None:
    server = Server()
    _, first = server.ask("go", LOOK)
    reading, second = server.ask([OUTPUT], DONE, previous_response_id=first["id"])
    assert reading.messages == (FIRST, ANSWERED, RESULT)
    assert (reading.keep, reading.added) == (1, (ANSWERED, RESULT))
    assert reading.violations == ()
    third, _ = server.ask("thanks", previous_response_id=second["id"])
    assert third.messages == (FIRST, ANSWERED, RESULT, assistant("done"), user("thanks"))
    assert third.keep == 3


def test_another_reader_goes_on_from_what_was_kept() -> None:
    """A provider outlives the agent that asked it."""
    before, after = Server(), Server()
    assert before.reader.kept() == b""
    _, first = before.ask("go", LOOK)
    before.ask("aside", DONE)
    after.reader.keep(before.reader.kept())
    reading, second = after.ask([OUTPUT], DONE, previous_response_id=first["id"])
    assert (reading.messages, reading.violations) == ((FIRST, ANSWERED, RESULT), ())
    again, _ = after.ask([OUTPUT], previous_response_id=second["id"])
    assert [v.rule for v in again.violations] == [
        v.rule for v in before.ask([OUTPUT, OUTPUT], previous_response_id=first["id"])[0].violations
    ]


def test_a_response_is_kept_without_half_a_character() -> None:
    server = Server()
    _, first = server.ask("go", Reply((Text("half \ud83d"),)))
    reading, _ = server.ask("on", previous_response_id=first["id"])
    assert reading.messages[1] == assistant("half \\ud83d")


def test_what_cannot_be_read_and_what_is_not_there_are_unread() -> None:
    server = Server()
    _, first = server.ask("go", LOOK)
    assert not server.ask([OUTPUT], previous_response_id=first["id"])[0].unread
    lost, _ = server.ask([OUTPUT], previous_response_id="resp_none")
    assert ([v.rule for v in lost.violations], lost.unread) == (["R15"], True)
    for broken in (b'{"input": [', b"[]", b'{"model": "m", "input": 3}'):
        assert reader().read(broken).unread


def test_it_is_the_same_conversation_as_when_all_of_it_is_sent() -> None:
    held, whole = Server(), Server()
    _, first = held.ask("go", LOOK)
    by_name, _ = held.ask([OUTPUT], previous_response_id=first["id"])
    _, first = whole.ask("go", LOOK)
    sent, _ = whole.ask([{"role": "user", "content": "go"}, *first["output"], OUTPUT])
    assert by_name.messages == sent.messages
    assert (by_name.keep, by_name.tokens) == (sent.keep, sent.tokens)


@settings(deadline=None)
@given(st.data())
def test_every_branch_is_the_same_conversation_as_when_all_of_it_is_sent(
    data: st.DataObject,
) -> None:
    held, whole = Server(), Server()
    branches: list[tuple[str, list[Any]]] = [("", [])]
    for turn in range(data.draw(st.integers(1, 5))):
        name, before = data.draw(st.sampled_from(branches))
        calls = [item["call_id"] for item in before[-3:] if item.get("type") == "function_call"]
        new: list[Any] = [{**OUTPUT, "call_id": call} for call in calls]
        new.append({"role": "user", "content": f"{turn}"})
        made: list[Block] = [Thinking("why", "s")] if data.draw(st.booleans()) else []
        uses = data.draw(st.integers(0, 2))
        made += [Text("so"), *(ToolUse(f"c{turn}{n}", "read", {}) for n in range(uses))]
        reply = Reply(tuple(made), "tool_use" if uses else "end_turn")
        fields = {"previous_response_id": name} if name else {}
        by_name, response = held.ask(new, reply, **fields)
        sent, again = whole.ask([*before, *new], reply)
        assert by_name.messages == sent.messages
        assert (by_name.violations, by_name.tokens) == ((), sent.tokens)
        assert sent.violations == ()
        assert response["output"] == again["output"]
        assert by_name.messages[by_name.keep :] == by_name.added
        branches.append((response["id"], [*before, *new, *response["output"]]))


@given(said(), st.booleans())
def test_what_is_kept_is_what_was_said(blocks: Any, stream: bool) -> None:
    server = Server("lenient")
    asked = server.reader.read(body("go", stream=stream))
    sends = WIRE.write(Reply(blocks), asked, "main/model#1", Draws(7))
    response = kept_id(joined(sends))
    reading, _ = server.ask("more", previous_response_id=response)
    expected = (user("go"), *([Message("assistant", blocks)] if blocks else ()), user("more"))
    if not blocks:
        expected = (user("go"), user("more"))
    assert reading.messages == expected


def kept_id(answer: bytes) -> str:
    """The id of the response in an answer, plain or streamed."""
    at = answer.index(b'"id":"resp_') + 6
    return answer[at : answer.index(b'"', at)].decode()


def test_calls_of_the_response_before_need_their_output() -> None:
    server = Server()
    _, first = server.ask("go", LOOK)
    reading, _ = server.ask("well?", previous_response_id=first["id"])
    assert [v.rule for v in reading.violations] == ["R2"]
    stranger, _ = server.ask([{**OUTPUT, "call_id": "c2"}], previous_response_id=first["id"])
    assert [v.rule for v in stranger.violations] == ["R1", "R2"]


def test_sending_what_the_server_has_is_a_duplicate() -> None:
    server = Server()
    _, first = server.ask("go", LOOK)
    reading, _ = server.ask([first["output"][2], OUTPUT], previous_response_id=first["id"])
    assert [v.rule for v in reading.violations] == ["R5", "R6"]


def test_two_requests_may_go_on_from_one_response() -> None:
    server = Server()
    _, first = server.ask("go", DONE)
    for text in ("a", "b", "a"):
        reading, _ = server.ask(text, DONE, previous_response_id=first["id"])
        assert reading.messages == (FIRST, assistant("done"), user(text))
        assert reading.violations == ()
    again, _ = server.ask("a", previous_response_id=first["id"])
    assert again.keep == 3


def test_what_is_not_stored_is_not_found() -> None:
    server = Server()
    _, first = server.ask("go", LOOK, store=False)
    reading, _ = server.ask([OUTPUT], previous_response_id=first["id"])
    assert reading.violations[0].rule == "R15"
    assert reading.messages == (RESULT,)
    item = {"type": "item_reference", "id": first["output"][0]["id"]}
    reading, _ = server.ask([item], store=False)
    assert [v.rule for v in reading.violations] == ["R17"]
    assert "`store` is set to false" in reading.violations[0].error.message


def test_an_error_is_no_response_to_go_on_from() -> None:
    server = Server()
    asked = server.reader.read(body("go"))
    WIRE.write(ApiError(500, "server_error", "oops"), asked, "main/model#1", Draws(7))
    name = Draws(7).identifier("", "main/model#1")
    reading, _ = server.ask("more", previous_response_id=f"resp_{name}")
    assert reading.violations[0].rule == "R15"


def test_a_reference_stands_for_the_item_that_it_names() -> None:
    server = Server()
    _, first = server.ask("go", LOOK)
    reasoning, _, call = ({"type": "item_reference", "id": item["id"]} for item in first["output"])
    go = {"role": "user", "content": "go"}
    assert server.ask([go, reasoning, call, OUTPUT])[0].violations == ()
    assert [v.rule for v in server.ask([go, reasoning, call])[0].violations] == ["R2"]
    assert [v.rule for v in server.ask([go, call, OUTPUT])[0].violations] == ["R4"]


@pytest.mark.parametrize("named", ["conv_1", {"id": "conv_1"}])
def test_a_conversation_grows_with_each_answer(named: Any) -> None:
    server = Server()
    server.ask("go", LOOK, conversation=named, store=False)
    reading, _ = server.ask([OUTPUT], DONE, conversation=named)
    assert (reading.messages, reading.keep) == ((FIRST, ANSWERED, RESULT), 1)
    assert server.ask("x", conversation="conv_2")[0].messages == (user("x"),)
    assert len(server.ask("x", conversation=named)[0].messages) == 5


@pytest.mark.parametrize("kind", ["json", "stream"])
def test_a_recorded_answer_is_kept_too(kind: str) -> None:
    server = Server()
    asked = server.reader.read(body("go", stream=kind == "stream"))
    answer = joined(WIRE.write(LOOK, asked, "main/model#1", Draws(3)))
    headers = {"content-type": "text/event-stream" if kind == "stream" else "application/json"}
    other = Server()
    asked = other.reader.read(body("go"))
    WIRE.write(Recorded(200, headers, answer), asked, "main/model#1", Draws(7))
    reading, _ = other.ask([OUTPUT], previous_response_id=kept_id(answer))
    assert reading.messages == (FIRST, ANSWERED, RESULT)


def test_the_oldest_response_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "RESPONSES", 2)
    server = Server()
    made = [server.ask("go", LOOK)[1] for _ in range(3)]
    found = [
        [v.rule for v in server.ask([OUTPUT], previous_response_id=r["id"])[0].violations]
        for r in made
    ]
    assert found == [["R15"], [], []]
    reference = {"type": "item_reference", "id": made[0]["output"][0]["id"]}
    assert [v.rule for v in server.ask([reference])[0].violations] == ["R17"]


def test_sessions_do_not_see_each_others_responses() -> None:
    _, first = Server().ask("go", DONE)
    reading = reader().read(body("x", previous_response_id=first["id"]))
    assert [v.rule for v in reading.violations] == ["R15"]


@pytest.mark.parametrize("held", [False, True])
def test_a_call_takes_in_only_what_is_new(held: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    real = ItemNode.__init__

    def counted(self: Any, *args: Any) -> None:
        taken.append(1)
        real(self, *args)

    monkeypatch.setattr(ItemNode, "__init__", counted)
    server, items, fields = Server(), list[Any](), dict[str, Any]()
    for n in range(40):
        items = [*items, {"role": "user", "content": f"{n}"}]
        before = len(taken)
        _, response = server.ask(items, DONE, **fields)
        assert len(taken) - before <= 3
        items = [] if held else [*items, *response["output"]]
        fields = {"previous_response_id": response["id"]} if held else {}
    assert json.dumps(response)
