"""Requests: what their fields say, and what is not a request.

Threads: the official runner sends only what is new, and the whole conversation is on record.
"""

from __future__ import annotations

from typing import Any

import anthropic
import msgspec
import pytest
from anthropic import beta_tool
from hypothesis import given

from harness.checks.append_only import append_only_prefix
from harness.checks.request_form import valid_request
from harness.checks.retries import no_blind_resend
from harness.core.scenario.scenario import Turn
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from harness.core.values.messages import Json, Message, Text, ToolResult, ToolSpec, assistant, user
from harness.core.values.plans import Reply
from harness.providers.anthropic.blocks import message_to
from harness.providers.anthropic.record import RECORD
from harness.providers.anthropic.reply import write
from harness.providers.anthropic.request import AnthropicReader
from tests.http_library import since_2
from tests.providers.anthropic.strategies import histories
from tests.providers.anthropic.world import called, in_process, loopback, run

TOOLS = [{"name": "read", "description": "d", "input_schema": {"type": "object"}}, {"name": "x"}]


def test_the_fields_of_a_request() -> None:
    system = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    fields = {"model": "m", "max_tokens": 7, "stream": True, "system": system, "tools": TOOLS}
    body = {**fields, "messages": [{"role": "user", "content": "hi"}]}
    reading = AnthropicReader(RECORD.dialects.default, None).read(msgspec.json.encode(body))
    assert (reading.model, reading.max_tokens, reading.stream) == ("m", 7, True)
    assert (reading.system, reading.messages) == ("a\nb", (user("hi"),))
    assert reading.tools == (ToolSpec("read", "d", {"type": "object"}), ToolSpec("x"))
    assert reading.tools_offered
    assert reading.violations == ()


def test_tools_that_must_not_be_called_are_not_offered() -> None:
    fields = {"model": "m", "max_tokens": 7, "tools": TOOLS, "tool_choice": {"type": "none"}}
    body = msgspec.json.encode({**fields, "messages": [{"role": "user", "content": "hi"}]})
    reading = AnthropicReader(RECORD.dialects.default, None).read(body)
    assert reading.tools
    assert not reading.tools_offered


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "Expecting value: line 1 column 1 (char 0)"),
        (b'{"a":1', "Expecting ',' delimiter: line 1 column 7 (char 6)"),
        (b'{"a":\n"\\ud83d"}', "no low surrogate in string: line 2 column 2 (char 7)"),
        (b'{"a":"\\\\\\ude00"}', "no low surrogate in string: line 1 column 9 (char 8)"),
        (b'{"a":"\\ud83d\\ud83d\\ude00"}', "no low surrogate in string: line 1 column 7 (char 6)"),
        (b'{"a":"\xff"}', "str is not valid UTF-8: line 1 column 7 (char 6)"),
        (b'{"messages":"\xff"}', "str is not valid UTF-8: line 1 column 14 (char 13)"),
        (b'{"a":NaN}', "unexpected constant NaN"),
        (b'{"messages":[],"a":1e999}', "number out of range"),
        (b'{"a":' + b"[" * 9999, "recursion limit exceeded"),
    ],
)
def test_what_is_no_json_is_refused_with_the_place(body: bytes, text: str) -> None:
    reading = AnthropicReader(RECORD.dialects.default, None).read(body)
    assert [v.rule for v in reading.violations] == ["V28"]
    expected = f"The request body is not valid JSON: {text}"
    assert reading.violations[0].error.message == expected


@pytest.mark.parametrize("body", [b"[]", b"3", b"null", b'"x"'])
def test_json_that_is_no_object_is_refused(body: bytes) -> None:
    reading = AnthropicReader(RECORD.dialects.default, None).read(body)
    assert [v.rule for v in reading.violations] == ["V35"]


def test_every_missing_field_is_named() -> None:
    found = AnthropicReader(RECORD.dialects.default, None).read(b"{}").violations
    names = ("model", "max_tokens", "messages")
    assert [v.error.message for v in found] == [f"{name}: Field required" for name in names]


TURNS = (
    Turn(say="I look.", use="look", input={"where": "here"}),
    Turn(think="Once more.", use="look", input={"where": "there"}),
    Turn(say="Done."),
)
GO: list[Any] = [{"role": "user", "content": "go"}]


@beta_tool
def look(where: str) -> str:
    """Looks somewhere.

    Args:
        where: the place
    """
    return f"nothing {where}"


def sent(transition: Transition) -> list[tuple[Message, ...]]:
    """The messages of each model call, as the history has them."""
    return [exchange.node.messages for exchange in transition.history.trace.exchanges]


def play(client: Any, **settings: Any) -> str:
    """The last words of a run of the official runner."""
    runner = client.beta.messages.tool_runner(
        model="claude-opus-5-5", max_tokens=100, tools=[look], messages=GO, system="Be brief.",
        **settings,
    )  # fmt: skip
    text: str = runner.until_done().content[-1].text
    return text


@since_2
@pytest.mark.parametrize("transport", [in_process, loopback])
def test_a_threaded_run_is_on_record_as_a_plain_one(transport: Any) -> None:
    records = []
    for settings in ({}, {"thread": False}):
        transition = run(*TURNS)
        with transport(transition) as client:
            assert play(client, **settings) == "Done."
        assert [event.refused for event in called(transition)] == [()] * 3
        records.append((sent(transition), [event.tokens for event in called(transition)]))
    assert records[0] == records[1]
    assert [len(messages) for messages in records[0][0]] == [1, 3, 5]


@since_2
def test_a_threaded_turn_sends_only_what_is_new() -> None:
    transition = run(*TURNS)
    with in_process(transition) as client:
        play(client)
    first, second, third = called(transition)
    assert second.bytes < first.bytes > third.bytes
    keeps = [event.request.keep for event in (first, second, third)]  # type: ignore[union-attr]
    assert keeps == [0, 1, 3]


def test_streams_can_be_threaded() -> None:
    transition = run(*TURNS)
    with in_process(transition) as client:
        runner = client.beta.messages.tool_runner(
            model="m", max_tokens=100, tools=[look], messages=GO, stream=True
        )
        last = [stream.get_final_message() for stream in runner][-1]
    assert last.content[-1].text == "Done."
    assert [len(messages) for messages in sent(transition)] == [1, 3, 5]


@since_2
def test_where_there_are_no_threads_the_runner_goes_on_without() -> None:
    transition = run(*TURNS, dialect="anthropic-2023")
    with in_process(transition) as client:
        assert play(client) == "Done."
    refused = [event.refused for event in called(transition)]
    assert refused == [("thread_unsupported_request",), (), (), ()]
    for check in (valid_request, append_only_prefix, no_blind_resend):
        assert list(check(transition.history)) == []


def turn(reader: AnthropicReader, thread: Json, *messages: Message, **fields: Json) -> Any:
    """The reading of a turn."""
    said = {"messages": [message_to(message) for message in messages], "thread": thread}
    return reader.read(msgspec.json.encode({"model": "m", "max_tokens": 9, **said, **fields}))


def answered(reading: Any, *words: str) -> str:
    """The id of an answer to a reading."""
    body = write(Reply(tuple(map(Text, words))), reading, "-".join(words), Draws(0))[0].data
    return str(msgspec.json.decode(body)["id"])


def follow(id_: str) -> Json:
    """The field that continues an answer."""
    return {"type": "continue", "previous_message_id": id_}


CREATE = {"type": "create"}


def test_another_reader_continues_what_was_kept() -> None:
    before, after = (AnthropicReader(RECORD.dialects.default, None) for _ in "ab")
    assert before.kept() == b""
    id_ = answered(turn(before, CREATE, user("go")), "so")
    after.keep(before.kept())
    reading = turn(after, follow(id_), user("on"))
    assert (reading.violations, len(reading.messages)) == ((), 3)


def test_an_answer_can_be_continued_once_and_again_when_nothing_came_of_it() -> None:
    reader = AnthropicReader(RECORD.dialects.default, None)
    id_ = answered(turn(reader, CREATE, user("a")), "b")
    assert turn(reader, follow(id_), user("c")).violations == ()
    again = turn(reader, follow(id_), user("c"))
    assert again.violations == ()
    answered(again, "d")
    found = turn(reader, follow(id_), user("c")).violations
    assert [v.error.code for v in found] == ["thread_already_continued"]
    assert turn(reader, follow(id_), user("c")).unread
    assert not again.unread


def test_pairing_is_judged_against_what_is_stored() -> None:
    reader = AnthropicReader(RECORD.dialects.default, None)
    id_ = answered(turn(reader, CREATE, user("a")), "b")
    orphan = Message("user", (ToolResult("toolu_x", "ok"),))
    found = turn(reader, follow(id_), orphan).violations
    assert [v.rule for v in found] == ["V5"]
    assert found[0].error.message.startswith("messages.2.content.0: ")


def test_a_pause_is_resumed_by_a_turn_without_messages() -> None:
    reader = AnthropicReader(RECORD.dialects.default, None)
    id_ = answered(turn(reader, CREATE, user("a")), "b")
    reading = turn(reader, follow(id_))
    assert reading.violations == ()
    assert reading.messages == (user("a"), assistant("b"))


def test_an_error_stores_nothing() -> None:
    reader = AnthropicReader(RECORD.dialects.default, None)
    reading = turn(reader, CREATE, user("a"))
    assert reading.turn is not None
    assert reading.turn.stored == {}


@pytest.mark.parametrize("field", ["context_management", "fallbacks"])
def test_some_fields_do_not_go_with_threads(field: str) -> None:
    reading = turn(AnthropicReader(RECORD.dialects.default, None), CREATE, user("a"), **{field: {}})
    assert [v.error.code for v in reading.violations] == ["thread_unsupported_request"]


@given(histories(min_rounds=1))
def test_a_thread_reads_as_the_whole_conversation(messages: list[Message]) -> None:
    reader, thread, fresh = AnthropicReader(RECORD.dialects.default, None), CREATE, list[Message]()
    seen = list[Message]()
    for message in messages:
        if message.role != "assistant":
            fresh.append(message)
            continue
        reading = turn(reader, thread, *fresh)
        assert list(reading.messages) == [*seen, *fresh]
        seen += [*fresh, message]
        fresh = []
        body = write(Reply(message.blocks), reading, str(len(seen)), Draws(0))[0].data
        thread = follow(str(msgspec.json.decode(body)["id"]))
    last = turn(reader, thread, *fresh)
    plain = turn(AnthropicReader(RECORD.dialects.default, None), None, *messages)
    assert list(last.messages) == messages
    assert (last.tokens, last.violations) == (plain.tokens, plain.violations) == (last.tokens, ())
    assert last.keep == len(seen) - 1 or not fresh


@since_2
def test_the_sdk_knows_the_errors_by_class() -> None:
    transition = run(Turn(say="a", times="forever"))
    with in_process(transition) as client:
        with pytest.raises(anthropic.NotFoundError) as lost:
            client.beta.messages.create(
                model="m", max_tokens=9, messages=GO, thread=follow("msg_0")
            )
        assert type(lost.value).__name__ == "ThreadNotFoundError"
