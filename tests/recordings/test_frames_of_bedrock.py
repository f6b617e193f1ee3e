"""Streams of Bedrock in cassettes and archives: frames in base64, told as the model said them."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from harness.core.values.messages import Message, ToolUse
from harness.providers.shared.event_stream import CONTENT_TYPE, event_frame, exception_frame, frame
from harness.recordings.recognition import read
from harness.recordings.transcript_counts import counts
from harness.recordings.transcripts import Recording
from tests.recordings.cassettes import ANTHROPIC_EVENTS

HOST = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-x%3A0"
SAID = Message("assistant", (ToolUse("toolu_1", "roll", {"sides": 6}),))

INVOKED = b"".join(event_frame(json.dumps(event).encode()) for event in ANTHROPIC_EVENTS)
CONVERSED = b"".join(
    frame({":event-type": name}, json.dumps(value).encode())
    for name, value in (
        ("messageStart", {"role": "assistant"}),
        (
            "contentBlockStart",
            {
                "contentBlockIndex": 0,
                "start": {"toolUse": {"toolUseId": "toolu_1", "name": "roll"}},
            },
        ),
        (
            "contentBlockDelta",
            {"contentBlockIndex": 0, "delta": {"toolUse": {"input": '{"sides": 6}'}}},
        ),
        ("messageStop", {"stopReason": "tool_use"}),
    )
)
ASKED = {
    "invoke-with-response-stream": {
        "anthropic_version": "bedrock-2023-05-31",
        "messages": [{"role": "user", "content": "roll a die"}],
    },
    "converse-stream": {"messages": [{"role": "user", "content": [{"text": "roll a die"}]}]},
}
WIRES = {"invoke-with-response-stream": "anthropic", "converse-stream": "bedrock-converse"}
CALLS = [("invoke-with-response-stream", INVOKED), ("converse-stream", CONVERSED)]


def cassette(operation: str, answer: bytes) -> bytes:
    """One exchange as vcrpy keeps it."""
    request = {"method": "POST", "uri": f"{HOST}/{operation}", "body": json.dumps(ASKED[operation])}
    body = {"base64_string": base64.b64encode(answer).decode()}
    headers = {"Content-Type": [CONTENT_TYPE]}
    response = {"status": {"code": 200}, "headers": headers, "body": body}
    return json.dumps({"interactions": [{"request": request, "response": response}]}).encode()


def archive(operation: str, answer: bytes) -> bytes:
    """One exchange as a browser's archive keeps it."""
    said = {"mimeType": "application/json", "text": json.dumps(ASKED[operation])}
    request = {"method": "POST", "url": f"{HOST}/{operation}", "headers": [], "postData": said}
    text = base64.b64encode(answer).decode()
    content = {"mimeType": CONTENT_TYPE, "encoding": "base64", "text": text, "size": len(answer)}
    entry: dict[str, Any] = {"request": request, "response": {"status": 200, "content": content}}
    return json.dumps({"log": {"version": "1.2", "entries": [entry]}}).encode()


@pytest.mark.parametrize("kept", [cassette, archive])
@pytest.mark.parametrize(("operation", "answer"), CALLS)
def test_a_stream_is_what_the_model_said(kept: Any, operation: str, answer: bytes) -> None:
    recording: Recording = read(kept(operation, answer))
    assert recording.refusals == ()
    (told,) = recording.transcripts
    assert (told.wire, told.stream, told.complete) == (WIRES[operation], True, True)
    assert told.model == "us.anthropic.claude-x:0"
    assert told.messages[-1] == SAID
    found = counts(told)
    assert (found["messages"], found["tool_calls"], found["pending_calls"]) == (2, 1, 1)


@pytest.mark.parametrize("kept", [cassette, archive])
@pytest.mark.parametrize(("operation", "answer"), CALLS)
def test_a_torn_frame_is_told_and_the_request_stays(
    kept: Any, operation: str, answer: bytes
) -> None:
    recording: Recording = read(kept(operation, answer[:-3]))
    (why,) = recording.refusals
    assert why.reason == "response: binary event stream is torn"
    assert [message.role for message in recording.transcripts[0].messages] == ["user"]


def test_an_exception_in_the_stream_is_its_error() -> None:
    cut = event_frame(json.dumps(ANTHROPIC_EVENTS[0]).encode())
    told = read(
        cassette(
            "invoke-with-response-stream", cut + exception_frame("throttlingException", "too many")
        )
    ).transcripts[0]
    assert told.error is not None
    assert (told.error.message, told.complete) == ("too many", False)


def test_a_call_without_a_name_is_refused() -> None:
    said = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "input": {}}}]}
    ending = {"messages": [{"role": "user", "content": [{"text": "go"}]}, said]}
    request = {"method": "POST", "uri": f"{HOST}/converse", "body": json.dumps(ending)}
    answer = {"output": {"message": {"role": "assistant", "content": [{"text": "a"}]}}}
    response = {"status": {"code": 200}, "headers": {}, "body": {"string": json.dumps(answer)}}
    recording = read(
        json.dumps({"interactions": [{"request": request, "response": response}]}).encode()
    )
    assert any("a call has no name" in why.reason for why in recording.refusals)
    assert recording.transcripts == ()


@pytest.mark.parametrize(("operation", "answer"), CALLS)
def test_frames_are_known_although_a_recorder_masked_the_headers(
    operation: str, answer: bytes
) -> None:
    data = cassette(operation, answer)
    assert read(data.replace(CONTENT_TYPE.encode(), b"**REDACTED**")) == read(data)
