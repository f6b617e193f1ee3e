"""Requests: the memory of the last one changes nothing but `keep`."""

from __future__ import annotations

import itertools
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.messages import Message, Text, ToolResult, ToolSpec, ToolUse, assistant, user
from harness.core.ports import Reading
from harness.wires.layout import Layout, split
from harness.wires.openai_chat.blocks import message_to
from harness.wires.openai_chat.request import OpenAIChatReader
from harness.wires.openai_chat.rules import DEFAULT_DIALECT
from tests.wires.openai_chat import strategies as some

TOOLS = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
WINDOW = 60

COMPACT: dict[str, Any] = {"separators": (",", ":"), "ensure_ascii": False}
FORMATS: tuple[dict[str, Any], ...] = (COMPACT, COMPACT, {}, {"indent": 1}, {"ensure_ascii": True})

rare_fields = st.fixed_dictionaries(
    {},
    optional={
        "model": st.sampled_from(["m", 3]),
        "max_tokens": st.sampled_from([1, 50, "x", None]),
        "max_completion_tokens": st.sampled_from([2, None]),
        "tools": st.sampled_from([TOOLS, [], "x", [3], None]),
        "functions": st.sampled_from([[{"name": "f"}], None]),
        "tool_choice": st.sampled_from(["none", "auto", {"type": "function"}]),
        "stream": st.sampled_from([True, False, None, 3]),
        "stream_options": st.sampled_from([{"include_usage": True}, None]),
        "metadata": some.objects,
        "messages": st.sampled_from(["x", {}, None]),
        "a b": st.just("messages"),
        "ä": some.words,
    },
)
odd_messages: st.SearchStrategy[Any] = st.sampled_from(
    [
        {"role": "user", "content": "again"},
        {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"a": 1}}]},
        {"role": "assistant", "tool_calls": [{"id": "t"}]},
        {"role": "tool", "content": "messages"},
        {"content": "messages"},
        {"role": "developer", "content": None},
        12,
        123,
        None,
    ]
)


@st.composite
def bodies(draw: st.DrawFn) -> list[bytes]:
    """Requests of one session: lists that grow, shrink and change, in any layout."""
    pool: list[Any] = [message_to(m) for m in draw(some.histories())]
    pool += draw(st.lists(odd_messages, max_size=3))
    made = []
    for _ in range(draw(st.integers(1, 6))):
        end = draw(st.integers(0, len(pool)))
        if draw(st.integers(0, 4)) == 0 and pool:
            pool[draw(st.integers(0, len(pool) - 1))] = draw(odd_messages)
        made.append(_body(draw, pool[:end]))
    return made


def _body(draw: st.DrawFn, messages: list[Any]) -> bytes:
    fields = {"model": "m", "messages": messages, "temperature": 1}
    if draw(st.integers(0, 3)) == 0:
        fields |= draw(rare_fields)
    names = draw(st.permutations(sorted(fields))) if draw(st.booleans()) else list(fields)
    body = json.dumps({name: fields[name] for name in names}, **draw(st.sampled_from(FORMATS)))
    damage = draw(st.integers(0, 9))
    if damage == 0:
        body = body[: draw(st.integers(0, len(body)))]
    if damage == 1:
        at = draw(st.integers(0, len(body)))
        body = body[:at] + draw(st.sampled_from([",", "]", "}", " ", '"', "\\ud83d"])) + body[at:]
    if damage == 2:
        body = body[:-1] + ',"messages":[12]}'
    return body.encode() if damage != 3 else body.encode() + b"\xff"


def _apart(reading: Reading) -> Reading:
    return msgspec.structs.replace(reading, keep=0, added=())


@given(bodies(), st.sampled_from(["openai-chat", "strict", "lenient"]))
def test_one_reader_for_all_reads_as_a_fresh_one_for_each(
    requests: list[bytes], dialect: str
) -> None:
    reader = OpenAIChatReader(dialect, WINDOW)
    before: tuple[Message, ...] = ()
    for body in requests:
        reading = reader.read(body)
        assert _apart(reading) == _apart(OpenAIChatReader(dialect, WINDOW).read(body))
        assert tuple(reading.messages[: reading.keep]) == before[: reading.keep]
        assert tuple(reading.messages[reading.keep :]) == reading.added
        before = tuple(reading.messages)


M = b'{"role":"user","content":"a"}'
GLUE = (b",", b"]", b",]", b" ]", b" ,", b", ", b"", b"}", b"],", b'],"messages":[', b"]}")
TAILS = (b"", M, M + b"]", M + b",", b'"model":"z"', b'"model":"z","messages":[]', b'"stream":3')
ENDS = (b"", b"}", b"]}", b',"max_tokens":5}', b'],"max_tokens":5}')


@pytest.mark.parametrize("count", [1, 2, 3])
def test_whatever_follows_the_shared_part_is_read_as_it_stands(count: int) -> None:
    first = b'{"model":"m","messages":[%b],"max_tokens":5}' % b",".join([M] * 3)
    shared = b'{"model":"m","messages":[' + b",".join([M] * count)
    for parts in itertools.product(GLUE, TAILS, ENDS):
        second = shared + b"".join(parts)
        reader = OpenAIChatReader(DEFAULT_DIALECT, WINDOW)
        for body in (first, second, first, second):
            fresh = OpenAIChatReader(DEFAULT_DIALECT, WINDOW).read(body)
            assert _apart(reader.read(body)) == _apart(fresh)


@given(some.histories(min_rounds=1), st.data())
def test_a_request_that_extends_the_last_keeps_all_of_it(
    messages: list[Message], data: st.DataObject
) -> None:
    end = data.draw(st.integers(1, len(messages)))
    again = data.draw(st.integers(1, len(messages)))
    reader = OpenAIChatReader(DEFAULT_DIALECT, None)
    reader.read(_request(messages[:end]))
    assert reader.read(_request(messages)).keep == end
    assert reader.read(_request(messages[:again])).keep == again


@given(some.histories(min_rounds=1), st.data())
def test_a_request_that_differs_keeps_what_it_shares(
    messages: list[Message], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(messages) - 1))
    other = [*messages[:at], user("something else"), *messages[at + 1 :]]
    for layout in (COMPACT, {"indent": 1}):
        reader = OpenAIChatReader(DEFAULT_DIALECT, None)
        reader.read(_request(messages, layout))
        assert reader.read(_request(other, layout)).keep == at


def test_only_what_is_new_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def counted(body: bytes) -> Layout:
        sizes.append(len(body))
        return split(body)

    monkeypatch.setattr("harness.wires.last_request.split", counted)
    monkeypatch.setattr("harness.wires.layout.split", counted)
    reader = OpenAIChatReader(DEFAULT_DIALECT, None)
    messages = [user("x" * 1000)] * 50
    reader.read(_request(messages))
    assert reader.read(_request([*messages, user("y")])).keep == 50
    assert reader.read(_request([*messages, user("z")])).keep == 50
    assert reader.read(_request([*messages, user("z"), user("z")])[:-1] + b',"a":1}').keep == 51
    whole, rest = sizes
    assert whole > 50_000
    assert rest < 1_000


def _request(messages: list[Message], layout: dict[str, Any] = COMPACT) -> bytes:
    wire = [message_to(message) for message in messages]
    return json.dumps({"messages": wire, "model": "m", "tools": TOOLS}, **layout).encode()


def read(*messages: Any, dialect: str = DEFAULT_DIALECT, **fields: Any) -> Reading:
    """The reading of a request."""
    body = {"model": "m", "messages": messages or [{"role": "user", "content": "hi"}], **fields}
    return OpenAIChatReader(dialect, None).read(msgspec.json.encode(body))


def test_the_fields_of_a_request() -> None:
    reading = read(
        max_completion_tokens=7,
        stream=True,
        tools=TOOLS,
        stream_options={"include_usage": True},
        temperature=0.5,
    )
    assert (reading.model, reading.max_tokens, reading.stream) == ("m", 7, True)
    assert reading.messages == (user("hi"),)
    assert reading.tools == (ToolSpec("read", "", {"type": "object"}),)
    assert reading.tools_offered
    assert reading.settings == {"stream_options": {"include_usage": True}, "temperature": 0.5}
    assert reading.violations == ()
    assert read(max_tokens=9).max_tokens == 9


def test_each_row_is_a_message_and_tool_rows_are_no_users() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    reading = read(
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "d"}]},
        {"role": "tool", "tool_call_id": "c", "content": "1"},
        {"role": "tool", "tool_call_id": "d", "content": "2"},
        {"role": "system", "content": "Late."},
    )
    assert reading.violations == ()
    assert reading.system == "Be brief.\nBe kind."
    assert reading.messages[2:6] == (
        user("hi"),
        assistant(ToolUse("c", "read", {}), ToolUse("d", "read", {})),
        Message("tool", (ToolResult("c", "1"),)),
        Message("tool", (ToolResult("d", "2"),)),
    )
    assert reading.messages[0] == Message("system", (Text("Be brief."),))


@pytest.mark.parametrize("barred", [{"tool_choice": "none"}, {"function_call": "none"}])
def test_tools_that_must_not_be_called_are_not_offered(barred: dict[str, Any]) -> None:
    reading = read(functions=[{"name": "f", "description": "d"}], tools=TOOLS, **barred)
    assert [tool.name for tool in reading.tools] == ["read", "f"]
    assert not reading.tools_offered


def test_a_custom_tool_is_a_tool_without_a_schema() -> None:
    tool = {"type": "custom", "custom": {"name": "shell", "description": "Runs."}}
    reading = read(tools=[tool])
    assert reading.tools == (ToolSpec("shell", "Runs."),)
    assert reading.violations == ()


@given(st.lists(st.tuples(some.json_values, st.booleans()), max_size=4))
def test_the_token_count_does_not_depend_on_the_layout(extra: list[tuple[Any, bool]]) -> None:
    body = {"messages": [{"role": "user", "content": "ä🙂 x"}], "tools": TOOLS, "metadata": extra}
    counts = {
        OpenAIChatReader("", None).read(json.dumps(body, **layout).encode()).tokens
        for layout in FORMATS
    }
    assert len(counts) == 1


BROKEN = (b"", b'{"a":1', b'{"a":"\\ud83d"}', b'{"a":"\xff"}', b'{"a":NaN}', b"[]", b"3", b"null")


@pytest.mark.parametrize("body", [*BROKEN, b'{"a":' + b"[" * 9999, b'{"messages":[],"a":1e999}'])
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    reading = OpenAIChatReader(DEFAULT_DIALECT, None).read(body)
    assert [v.rule for v in reading.violations] == ["C10"]


def test_every_missing_field_is_named() -> None:
    found = OpenAIChatReader(DEFAULT_DIALECT, None).read(b"{}").violations
    assert [v.error.message for v in found] == [
        "you must provide a model parameter",
        "Missing required parameter: 'messages'.",
    ]
