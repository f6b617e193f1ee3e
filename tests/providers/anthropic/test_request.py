"""Requests: what their fields say, and what is not a request."""

from __future__ import annotations

import msgspec
import pytest

from harness.core.values.messages import ToolSpec, user
from harness.providers.anthropic.record import RECORD
from harness.providers.anthropic.request import AnthropicReader

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
