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
from harness.wires.openai_responses.blocks import items_of
from harness.wires.openai_responses.layout import Layout, split
from harness.wires.openai_responses.request import ResponsesReader
from tests.wires.anthropic.strategies import objects, words
from tests.wires.openai_responses.strategies import histories
from tests.wires.openai_responses.world import COMPACT, body, body_of, reader

TOOLS: list[dict[str, Any]] = [
    {"type": "function", "name": "read", "description": "d", "parameters": {"type": "object"}},
    {"type": "function", "name": "x"},
]
WINDOW = 60
FORMATS: tuple[dict[str, Any], ...] = (COMPACT, COMPACT, {}, {"indent": 1}, {"ensure_ascii": True})

rare_fields = st.fixed_dictionaries(
    {},
    optional={
        "model": st.sampled_from(["m", 3]),
        "max_output_tokens": st.sampled_from([1, 50, "x", True]),
        "instructions": st.sampled_from(["s", [3], "", None]),
        "tools": st.sampled_from([TOOLS, [], "x", [{"type": "web_search"}]]),
        "tool_choice": st.sampled_from(["none", "auto"]),
        "stream": st.sampled_from([True, False, None]),
        "store": st.sampled_from([True, False]),
        "truncation": st.sampled_from(["auto", "disabled"]),
        "previous_response_id": st.sampled_from(["resp_x", None]),
        "conversation": st.sampled_from(["conv_x", {"id": "conv_x"}]),
        "metadata": objects,
        "input": st.sampled_from(["x", {}, None, 3]),
        "a b": st.just("input"),
        "ä": words,
    },
)
odd_items = st.sampled_from(
    [
        {"role": "user", "content": "again"},
        {"role": "user", "content": [{"type": "input_text", "text": "x"}]},
        {"type": "function_call", "call_id": "t", "name": "n", "arguments": ""},
        {"type": "function_call_output", "call_id": "t", "output": "o"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "item_reference", "id": "rs_1"},
        {"content": "input"},
        {"role": "user"},
        12,
        None,
    ]
)


@st.composite
def bodies(draw: st.DrawFn) -> list[bytes]:
    """Requests of one session: lists that grow, shrink and change, in any layout."""
    pool: list[Any] = [*items_of(draw(histories())), *draw(st.lists(odd_items, max_size=3))]
    made = []
    for _ in range(draw(st.integers(1, 6))):
        end = draw(st.integers(0, len(pool)))
        if draw(st.integers(0, 4)) == 0 and pool:
            pool[draw(st.integers(0, len(pool) - 1))] = draw(odd_items)
        made.append(_body(draw, pool[:end]))
    return made


def _body(draw: st.DrawFn, items: list[Any]) -> bytes:
    fields: dict[str, Any] = {"input": items, "model": "m"}
    if draw(st.integers(0, 3)) == 0:
        fields |= draw(rare_fields)
    names = draw(st.permutations(sorted(fields))) if draw(st.booleans()) else list(fields)
    text = json.dumps({name: fields[name] for name in names}, **draw(st.sampled_from(FORMATS)))
    damage = draw(st.integers(0, 9))
    if damage == 0:
        text = text[: draw(st.integers(0, len(text)))]
    if damage == 1:
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from([",", "]", "}", " ", '"', "\\ud83d"])) + text[at:]
    if damage == 2:
        text = text[:-1] + ',"input":[12]}'
    return text.encode() if damage != 3 else text.encode() + b"\xff"


def _apart(reading: Reading) -> Reading:
    return msgspec.structs.replace(reading, keep=0, added=(), place=None)


ONE = b'{"role":"user","content":"a"}'
PAD = b" " * (len(ONE) + 1)


@given(bodies())
@example([b"{" + PAD + b'"input":[%b,%b]}' % (ONE, ONE)] * 2)
@example([b'{"input":[%b,%b%b]}' % (ONE, PAD, ONE)] * 2)
@example([b'{"a":1,"a":%b,"input":[%b,%b]}' % (b"1" * (len(ONE) - 4), ONE, ONE)] * 2)
def test_one_reader_for_all_reads_as_a_fresh_one_for_each(requests: list[bytes]) -> None:
    one = reader(window_tokens=WINDOW)
    before: tuple[Message, ...] = ()
    for request in requests:
        reading = one.read(request)
        fresh = reader(window_tokens=WINDOW).read(request)
        assert _apart(reading) == _apart(fresh)
        assert tuple(reading.messages[: reading.keep]) == before[: reading.keep]
        assert tuple(reading.messages[reading.keep :]) == reading.added
        before = tuple(reading.messages)


GLUE = (b",", b"]", b",]", b" ]", b" ,", b", ", b"", b"}", b"],", b'],"input":[', b"]}")
TAILS = (b"", ONE, ONE + b"]", ONE + b",", b'"model":"z"', b'"model":"z","input":[]', b'"store":3')
ENDS = (b"", b"}", b"]}", b',"store":true}', b'],"store":true}')


@pytest.mark.parametrize("count", [0, 1, 3])
def test_whatever_follows_the_shared_part_is_read_as_it_stands(count: int) -> None:
    first = b'{"model":"m","input":[%b],"store":true}' % b",".join([ONE] * count)
    shared = b'{"model":"m","input":[' + b",".join([ONE] * count)
    for parts in itertools.product(GLUE, TAILS, ENDS):
        second = shared + b"".join(parts)
        one = reader(window_tokens=WINDOW)
        for request in (first, second, first, second):
            fresh = reader(window_tokens=WINDOW).read(request)
            assert _apart(one.read(request)) == _apart(fresh)


@given(histories(min_rounds=1), st.data())
def test_a_request_that_extends_the_last_keeps_all_of_it(
    messages: list[Message], data: st.DataObject
) -> None:
    end = data.draw(st.integers(1, len(messages)))
    again = data.draw(st.integers(1, len(messages)))
    one = reader()
    one.read(body_of(messages[:end]))
    assert one.read(body_of(messages)).keep == end
    assert one.read(body_of(messages[:again])).keep == again


@given(histories(min_rounds=1), st.data())
def test_a_request_that_differs_keeps_what_it_shares(
    messages: list[Message], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(messages) - 1))
    other = [*messages[:at], Message("developer", user("else").blocks), *messages[at + 1 :]]
    for layout in (COMPACT, {"indent": 1}):
        one = reader()
        one.read(body_of(messages, layout=layout))
        assert one.read(body_of(other, layout=layout)).keep == at


def test_only_what_is_new_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def counted(request: bytes) -> Layout:
        sizes.append(len(request))
        return split(request)

    monkeypatch.setattr("harness.wires.openai_responses.request.split", counted)
    one = reader()
    items: list[Any] = [{"role": "user", "content": "x" * 100}]
    for _ in range(50):
        assert one.read(body(items, tools=TOOLS)).keep == len(items) - 1
        items.append({"role": "user", "content": "x" * 100})
    assert len(sizes) == 1


def test_the_fields_of_a_request() -> None:
    fields: dict[str, Any] = {
        "max_output_tokens": 70,
        "stream": True,
        "instructions": "be brief",
        "tools": TOOLS,
    }
    reading = reader().read(body("hi", COMPACT, **fields, temperature=0.5, text=None))
    assert (reading.model, reading.max_tokens, reading.stream) == ("m", 70, True)
    assert (reading.system, reading.messages) == ("be brief", (user("hi"),))
    assert reading.tools == (ToolSpec("read", "d", {"type": "object"}), ToolSpec("x"))
    assert reading.tools_offered
    assert reading.settings == {"temperature": 0.5, "text": None}
    assert reading.violations == ()


def test_tools_of_the_server_are_settings() -> None:
    search = {"type": "web_search"}
    reading = reader().read(body("hi", tools=[*TOOLS, search]))
    assert len(reading.tools) == 2
    assert reading.settings == {"tools": [search]}


def test_tools_that_must_not_be_called_are_not_offered() -> None:
    reading = reader().read(body("hi", tools=TOOLS, tool_choice="none"))
    assert reading.tools
    assert not reading.tools_offered


@given(st.sampled_from(FORMATS), st.text(max_size=5))
def test_the_token_count_does_not_depend_on_the_layout(layout: dict[str, Any], text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    compact = reader().read(body(text, instructions=text))
    assert reader().read(body(text, layout, instructions=text)).tokens == compact.tokens


def test_a_lone_surrogate_and_a_body_that_is_no_json_are_refused() -> None:
    for bad in (b'{"input":"\\ud83d","model":"m"}', b"{", b"", b'{"model":NaN}', b"[" * 9999):
        reading = reader().read(bad)
        assert [v.rule for v in reading.violations] == ["R18"]
        assert reading.messages == ()


def test_after_a_bad_request_the_next_one_is_read_as_the_first() -> None:
    one = reader()
    good = body("hi")
    one.read(good)
    one.read(b"{")
    assert one.read(good).keep == 0
    assert one.read(good).keep == 1


def test_a_reader_is_one_session() -> None:
    assert isinstance(reader(), ResponsesReader)
    assert reader().read(body("hi")).keep == 0
