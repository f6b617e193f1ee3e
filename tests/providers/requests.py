"""Requests of each wire: as its clients send them, and as none should.

What the wires' readers have in common is tested over these, so a new wire is a row of `WIRES`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st

from harness.core.transition.ports import Reader
from harness.core.values.messages import Message
from harness.providers import by_name
from harness.providers.anthropic.blocks import message_to as anthropic_message
from harness.providers.gemini.record import RECORD
from harness.providers.openai_chat.blocks import message_to as chat_message
from harness.providers.openai_responses.blocks import items_of
from tests.providers.anthropic import strategies as anthropic
from tests.providers.gemini.bodies import content_to
from tests.providers.openai_chat import strategies as openai_chat
from tests.providers.openai_responses import strategies as openai_responses

COMPACT: dict[str, Any] = {"separators": (",", ":"), "ensure_ascii": False}
FORMATS: tuple[dict[str, Any], ...] = (COMPACT, COMPACT, {}, {"indent": 1}, {"ensure_ascii": True})

Strategy = st.SearchStrategy[Any]


class WireRequests(NamedTuple):
    """The requests of a wire. `listed` is the field whose list grows, `entries` makes it of
    messages; `rare` are fields that few requests have, right or wrong, `odd` are entries."""

    wire: str
    listed: str
    fields: dict[str, Any]
    entries: Callable[[Sequence[Message]], list[Any]]
    histories: Callable[..., st.SearchStrategy[list[Message]]]
    rare: dict[str, Strategy]
    odd: Strategy
    dialects: tuple[str, ...] = ("",)

    def reader(self, dialect: str = "", window_tokens: int | None = None) -> Reader:
        """A reader of its own session."""
        return by_name(self.wire).reader(dialect, window_tokens)

    def body(self, messages: Sequence[Message], layout: dict[str, Any] = COMPACT) -> bytes:
        """A request of these messages; the list is not its last field."""
        fields = {self.listed: self.entries(messages), "model": "m", **self.fields}
        return json.dumps(fields, **layout).encode()


@st.composite
def bodies(draw: st.DrawFn, requests: WireRequests) -> list[bytes]:
    """Requests of one session: lists that grow, shrink and change, in any layout."""
    pool = requests.entries(draw(requests.histories()))
    pool += draw(st.lists(requests.odd, max_size=3))
    made = []
    for _ in range(draw(st.integers(1, 6))):
        end = draw(st.integers(0, len(pool)))
        if draw(st.integers(0, 4)) == 0 and pool:
            pool[draw(st.integers(0, len(pool) - 1))] = draw(requests.odd)
        made.append(_body(draw, requests, pool[:end]))
    return made


def _body(draw: st.DrawFn, requests: WireRequests, entries: list[Any]) -> bytes:
    fields = {"model": "m", "max_tokens": 5, requests.listed: entries}
    if draw(st.integers(0, 3)) == 0:
        fields |= draw(st.fixed_dictionaries({}, optional=COMMON | requests.rare))
    names = draw(st.permutations(sorted(fields))) if draw(st.booleans()) else list(fields)
    text = json.dumps({name: fields[name] for name in names}, **draw(st.sampled_from(FORMATS)))
    damage = draw(st.integers(0, 9))
    if damage == 0:
        text = text[: draw(st.integers(0, len(text)))]
    if damage == 1:
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from([",", "]", "}", " ", '"', "\\ud83d"])) + text[at:]
    if damage == 2:
        text = f'{text[:-1]},"{requests.listed}":[12]}}'
    return text.encode() if damage != 3 else text.encode() + b"\xff"


COMMON: dict[str, Strategy] = {
    "model": st.sampled_from(["m", 3]),
    "stream": st.sampled_from([True, False, None, 3]),
    "metadata": anthropic.objects,
    "a b": st.just("messages") | st.just("input"),
    "ä": anthropic.words,
}

ANTHROPIC_TOOLS = [{"name": "read", "description": "d", "input_schema": {"type": "object"}}]
ANTHROPIC = WireRequests(
    wire="anthropic",
    listed="messages",
    fields={"max_tokens": 5, "system": "s", "tools": ANTHROPIC_TOOLS},
    entries=lambda messages: list(map(anthropic_message, messages)),
    histories=anthropic.histories,
    rare={
        "max_tokens": st.sampled_from([1, 50, "x"]),
        "system": st.sampled_from(["s", [{"type": "text", "text": "s"}], [3], ""]),
        "tools": st.sampled_from([ANTHROPIC_TOOLS, [], "x"]),
        "tool_choice": st.sampled_from([{"type": "none"}, {"type": "auto"}]),
        "messages": st.sampled_from(["x", {}]),
    },
    odd=st.sampled_from(
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
    ),
)

CHAT_TOOLS = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
CHAT = WireRequests(
    wire="openai-chat",
    listed="messages",
    fields={"temperature": 1, "tools": CHAT_TOOLS},
    entries=lambda messages: list(map(chat_message, messages)),
    histories=openai_chat.histories,
    rare={
        "max_tokens": st.sampled_from([1, 50, "x", None]),
        "max_completion_tokens": st.sampled_from([2, None]),
        "tools": st.sampled_from([CHAT_TOOLS, [], "x", [3], None]),
        "functions": st.sampled_from([[{"name": "f"}], None]),
        "tool_choice": st.sampled_from(["none", "auto", {"type": "function"}]),
        "stream_options": st.sampled_from([{"include_usage": True}, None]),
        "messages": st.sampled_from(["x", {}, None]),
    },
    odd=st.sampled_from(
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
    ),
    dialects=("openai-chat", "azure", "strict", "lenient"),
)

RESPONSES_TOOLS = [
    {"type": "function", "name": "read", "description": "d", "parameters": {"type": "object"}}
]
RESPONSES = WireRequests(
    wire="openai-responses",
    listed="input",
    fields={"store": True, "tools": RESPONSES_TOOLS},
    entries=lambda messages: list(items_of(messages)),
    histories=openai_responses.histories,
    rare={
        "max_output_tokens": st.sampled_from([1, 50, "x", True]),
        "instructions": st.sampled_from(["s", [3], "", None]),
        "tools": st.sampled_from([RESPONSES_TOOLS, [], "x", [{"type": "web_search"}]]),
        "tool_choice": st.sampled_from(["none", "auto"]),
        "store": st.sampled_from([True, False]),
        "truncation": st.sampled_from(["auto", "disabled"]),
        "previous_response_id": st.sampled_from(["resp_x", None]),
        "conversation": st.sampled_from(["conv_x", {"id": "conv_x"}]),
        "input": st.sampled_from(["x", {}, None, 3]),
    },
    odd=st.sampled_from(
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
    ),
)

GEMINI_TOOLS = [{"functionDeclarations": [{"name": "read", "parameters": {"type": "object"}}]}]
GEMINI = WireRequests(
    wire="gemini",
    listed="contents",
    fields={"systemInstruction": {"parts": [{"text": "s"}]}, "tools": GEMINI_TOOLS},
    entries=lambda messages: list(map(content_to, messages)),
    histories=anthropic.histories,
    rare={
        "systemInstruction": st.sampled_from([{"parts": {"text": "s"}}, "s", 3, None]),
        "tools": st.sampled_from([GEMINI_TOOLS, [], {}, [{}], 3, None]),
        "toolConfig": st.sampled_from([{"functionCallingConfig": {"mode": "NONE"}}, {}, 3]),
        "generationConfig": st.sampled_from([{"maxOutputTokens": 5}, {}, None]),
        "contents": st.sampled_from(["x", {}, None]),
    },
    odd=st.sampled_from(
        [
            {"role": "user", "parts": [{"text": "again"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "n"}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "n", "response": {}}}]},
            {"parts": {"text": "contents"}},
            {"role": "user", "parts": [{}]},
            {"role": "user"},
            {"parts": [3]},
            12,
            123,
            None,
        ]
    ),
    dialects=RECORD.dialects.names,
)

WIRES = (ANTHROPIC, CHAT, RESPONSES, GEMINI)
