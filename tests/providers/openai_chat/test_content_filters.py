"""Answers with the results of Azure's content filter, as the official client takes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.values.draws import Draws
from harness.core.values.messages import Message, Text, ToolUse
from harness.core.values.plans import Reply
from harness.providers.openai_chat.response import parse, recorded_answer
from tests.providers.openai_chat.sdk import ASK, WIRE, Mouth
from tests.providers.sends import joined

SAID = Reply((Text("Good morning."), ToolUse("call_1", "read", {"path": "a"})), "tool_use")
FILTERED = Reply((Text("Good "),), "refusal")


@pytest.fixture
def azure() -> Mouth:
    """A client of a host with a filter."""
    mouth = Mouth()
    mouth.dialect = "azure"
    return mouth


def body(reply: Reply, *, stream: bool) -> bytes:
    """The bytes of an answer."""
    asked = json.dumps({**ASK, "stream": stream}).encode()
    reading = WIRE.reader("azure", None).read(asked)
    return joined(WIRE.write(reply, reading, "main/model#1", Draws(7)))


def values(reply: Reply) -> list[dict[str, Any]]:
    """The chunks of a streamed answer."""
    frames = body(reply, stream=True).decode().split("\n\n")
    return [json.loads(frame.removeprefix("data: ")) for frame in frames if frame.endswith("}")]


def found(reply: Reply) -> list[dict[str, Any]]:
    """What the filter says in each chunk that has a choice."""
    return [c["content_filter_results"] for value in values(reply) for c in value["choices"]]


def test_a_stream_begins_with_the_results_of_the_prompt() -> None:
    first, *others = values(SAID)
    assert (first["choices"], first["id"], first["model"]) == ([], "", "")
    (prompt,) = first["prompt_filter_results"]
    assert prompt["content_filter_results"]["jailbreak"] == {"filtered": False, "detected": False}
    assert all(value["choices"] and "prompt_filter_results" not in value for value in others)
    results = found(SAID)
    assert (results[0], results[-1]) == ({}, {})
    assert results[1]["violence"] == {"filtered": False, "severity": "safe"}


def test_a_reply_that_the_filter_ended_says_what_it_found() -> None:
    assert found(FILTERED)[-1]["violence"] == {"filtered": True, "severity": "high"}
    (choice,) = json.loads(body(FILTERED, stream=False))["choices"]
    assert choice["finish_reason"] == "content_filter"
    assert choice["content_filter_results"]["violence"]["filtered"] is True


def test_the_client_takes_a_plain_answer(azure: Mouth) -> None:
    completion = azure.plain(SAID)
    (choice,) = completion.choices
    assert choice.message.content == "Good morning."
    assert choice.message.tool_calls[0].function.name == "read"
    assert completion.prompt_filter_results[0]["prompt_index"] == 0
    assert azure.plain(FILTERED).choices[0].finish_reason == "content_filter"


def test_the_client_takes_a_stream(azure: Mouth) -> None:
    completion = azure.streamed(SAID)
    assert completion.choices[0].message.content == "Good morning."
    assert completion.choices[0].finish_reason == "tool_calls"
    assert azure.streamed(FILTERED).choices[0].finish_reason == "content_filter"
    chunks = list(azure.client.chat.completions.create(**ASK, stream=True))
    assert not chunks[0].choices
    assert chunks[-1].choices[0].finish_reason == "content_filter"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("reply", [SAID, FILTERED])
def test_what_was_said_is_read_back(reply: Reply, stream: bool) -> None:
    kind = "text/event-stream" if stream else "application/json"
    told = parse(body(reply, stream=stream), kind)
    assert (told.message, told.stop) == (Message("assistant", reply.blocks), reply.stop)
    recorded = recorded_answer(body(reply, stream=stream), kind)
    assert recorded.message == told.message
    assert recorded.stop == ("content_filter" if reply is FILTERED else "tool_calls")
    assert recorded.complete


def test_no_other_dialect_has_them() -> None:
    asked = json.dumps(ASK).encode()
    reading = WIRE.reader("", None).read(asked)
    assert b"filter" not in joined(WIRE.write(SAID, reading, "main/model#1", Draws(7)))
