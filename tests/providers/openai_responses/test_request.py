"""Requests: what their fields say, and what is not a request."""

from __future__ import annotations

from typing import Any

from harness.core.values.messages import ToolSpec, user
from harness.providers.openai_responses.request import ResponsesReader
from tests.providers.openai_responses.world import COMPACT, body, reader

TOOLS: list[dict[str, Any]] = [
    {"type": "function", "name": "read", "description": "d", "parameters": {"type": "object"}},
    {"type": "function", "name": "x"},
]


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
