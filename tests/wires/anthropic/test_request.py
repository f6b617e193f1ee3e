"""Requests: the memory of the last one changes nothing but `keep`."""

from __future__ import annotations

import itertools
import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.core.messages import Message, ToolSpec, user
from harness.core.ports import Reading
from harness.wires.anthropic.blocks import message_to
from harness.wires.anthropic.request import AnthropicReader
from harness.wires.anthropic.rules import DEFAULT_DIALECT
from harness.wires.layout import Layout, split
from tests.wires.anthropic.strategies import histories, json_values, objects, words

TOOLS = [{"name": "read", "description": "d", "input_schema": {"type": "object"}}, {"name": "x"}]
WINDOW = 60

COMPACT: dict[str, Any] = {"separators": (",", ":"), "ensure_ascii": False}
FORMATS: tuple[dict[str, Any], ...] = (COMPACT, COMPACT, {}, {"indent": 1}, {"ensure_ascii": True})

rare_fields = st.fixed_dictionaries(
    {},
    optional={
        "model": st.sampled_from(["m", 3]),
        "max_tokens": st.sampled_from([1, 50, "x"]),
        "system": st.sampled_from(["s", [{"type": "text", "text": "s"}], [3], ""]),
        "tools": st.sampled_from([TOOLS, [], "x"]),
        "tool_choice": st.sampled_from([{"type": "none"}, {"type": "auto"}]),
        "stream": st.sampled_from([True, False, None]),
        "metadata": objects,
        "messages": st.sampled_from(["x", {}]),
        "a b": st.just("messages"),
        "ä": words,
    },
)
odd_messages = st.sampled_from(
    [
        {"role": "user", "content": "again"},
        {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"a": 1}}]},
        {"role": "user", "content": [{"type": "text", "text": "x"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]},
        {"content": "messages"},
        {"role": "user"},
        12,
        123,
        None,
    ]
)


@st.composite
def bodies(draw: st.DrawFn) -> list[bytes]:
    """Requests of one session: lists that grow, shrink and change, in any layout."""
    pool = [message_to(m) for m in draw(histories())] + draw(st.lists(odd_messages, max_size=3))
    made = []
    for _ in range(draw(st.integers(1, 6))):
        end = draw(st.integers(0, len(pool)))
        if draw(st.integers(0, 4)) == 0 and pool:
            pool[draw(st.integers(0, len(pool) - 1))] = draw(odd_messages)
        made.append(_body(draw, pool[:end]))
    return made


def _body(draw: st.DrawFn, messages: list[Any]) -> bytes:
    fields = {"model": "m", "max_tokens": 5, "messages": messages}
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
    """The reading without what depends on its reader's memory."""
    return msgspec.structs.replace(reading, keep=0, added=(), bindings=None, turn=None)


M = b'{"role":"user","content":"a"}'
PAD = b" " * (len(M) + 1)


@given(bodies())
@example([b"{" + PAD + b'"messages":[%b,%b]}' % (M, M)] * 2)
@example([b'{"messages":[%b,%b%b]}' % (M, PAD, M)] * 2)
@example([b'{"a":1,"a":%b,"messages":[%b,%b]}' % (b"1" * (len(M) - 4), M, M)] * 2)
def test_one_reader_for_all_reads_as_a_fresh_one_for_each(requests: list[bytes]) -> None:
    reader = AnthropicReader(DEFAULT_DIALECT, WINDOW)
    before: tuple[Message, ...] = ()
    for body in requests:
        reading = reader.read(body)
        fresh = AnthropicReader(DEFAULT_DIALECT, WINDOW).read(body)
        assert _apart(reading) == _apart(fresh)
        assert tuple(reading.messages[: reading.keep]) == before[: reading.keep]
        assert tuple(reading.messages[reading.keep :]) == reading.added
        before = tuple(reading.messages)


GLUE = (b",", b"]", b",]", b" ]", b" ,", b", ", b"", b"}", b"],", b'],"messages":[', b"]}")
TAILS = (b"", M, M + b"]", M + b",", b'"model":"z"', b'"model":"z","messages":[]', b'"system":3')
ENDS = (b"", b"}", b"]}", b',"max_tokens":5}', b'],"max_tokens":5}')


@pytest.mark.parametrize("count", [1, 2, 3])
def test_whatever_follows_the_shared_part_is_read_as_it_stands(count: int) -> None:
    first = b'{"model":"m","messages":[%b],"max_tokens":5}' % b",".join([M] * 3)
    shared = b'{"model":"m","messages":[' + b",".join([M] * count)
    for parts in itertools.product(GLUE, TAILS, ENDS):
        second = shared + b"".join(parts)
        reader = AnthropicReader(DEFAULT_DIALECT, WINDOW)
        for body in (first, second, first, second):
            fresh = AnthropicReader(DEFAULT_DIALECT, WINDOW).read(body)
            assert _apart(reader.read(body)) == _apart(fresh)


@given(histories(min_rounds=1), st.data())
def test_a_request_that_extends_the_last_keeps_all_of_it(
    messages: list[Message], data: st.DataObject
) -> None:
    end = data.draw(st.integers(1, len(messages)))
    again = data.draw(st.integers(1, len(messages)))
    reader = AnthropicReader(DEFAULT_DIALECT, None)
    reader.read(_request(messages[:end]))
    assert reader.read(_request(messages)).keep == end
    assert reader.read(_request(messages[:again])).keep == again


@given(histories(min_rounds=1), st.data())
def test_a_request_that_differs_keeps_what_it_shares(
    messages: list[Message], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(messages) - 1))
    other = [*messages[:at], user("something else"), *messages[at + 1 :]]
    for layout in (COMPACT, {"indent": 1}):
        reader = AnthropicReader(DEFAULT_DIALECT, None)
        reader.read(_request(messages, layout))
        assert reader.read(_request(other, layout)).keep == at


def test_only_what_is_new_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def counted(body: bytes) -> Layout:
        sizes.append(len(body))
        return split(body)

    monkeypatch.setattr("harness.wires.anthropic.request.split", counted)
    monkeypatch.setattr("harness.wires.layout.split", counted)
    reader = AnthropicReader(DEFAULT_DIALECT, None)
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
    fields = {"max_tokens": 5, "messages": wire, "model": "m", "system": "s", "tools": TOOLS}
    return json.dumps(fields, **layout).encode()


def test_the_fields_of_a_request() -> None:
    system = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    fields = {"model": "m", "max_tokens": 7, "stream": True, "system": system, "tools": TOOLS}
    body = {**fields, "messages": [{"role": "user", "content": "hi"}]}
    reading = AnthropicReader(DEFAULT_DIALECT, None).read(msgspec.json.encode(body))
    assert (reading.model, reading.max_tokens, reading.stream) == ("m", 7, True)
    assert (reading.system, reading.messages) == ("a\nb", (user("hi"),))
    assert reading.tools == (ToolSpec("read", "d", {"type": "object"}), ToolSpec("x"))
    assert reading.tools_offered
    assert reading.violations == ()


def test_tools_that_must_not_be_called_are_not_offered() -> None:
    fields = {"model": "m", "max_tokens": 7, "tools": TOOLS, "tool_choice": {"type": "none"}}
    body = msgspec.json.encode({**fields, "messages": [{"role": "user", "content": "hi"}]})
    reading = AnthropicReader(DEFAULT_DIALECT, None).read(body)
    assert reading.tools
    assert not reading.tools_offered


@given(st.lists(st.tuples(json_values, st.booleans()), max_size=4))
def test_the_token_count_does_not_depend_on_the_layout(extra: list[tuple[Any, bool]]) -> None:
    body = {"messages": [{"role": "user", "content": "ä🙂 x"}], "metadata": extra}
    counts = {
        AnthropicReader("bedrock", None).read(json.dumps(body, **layout).encode()).tokens
        for layout in FORMATS
    }
    assert len(counts) == 1


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
    reading = AnthropicReader(DEFAULT_DIALECT, None).read(body)
    assert [v.rule for v in reading.violations] == ["V28"]
    expected = f"The request body is not valid JSON: {text}"
    assert reading.violations[0].error.message == expected


@pytest.mark.parametrize("body", [b"[]", b"3", b"null", b'"x"'])
def test_json_that_is_no_object_is_refused(body: bytes) -> None:
    reading = AnthropicReader(DEFAULT_DIALECT, None).read(body)
    assert [v.rule for v in reading.violations] == ["V35"]


def test_every_missing_field_is_named() -> None:
    found = AnthropicReader(DEFAULT_DIALECT, None).read(b"{}").violations
    names = ("model", "max_tokens", "messages")
    assert [v.error.message for v in found] == [f"{name}: Field required" for name in names]
