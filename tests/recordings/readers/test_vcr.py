"""Cassettes: every dialect says the same, and what cannot be read is refused with a reason."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import Text, ToolUse
from harness.recordings.recognition import format_named
from harness.recordings.transcripts import Transcript
from tests.recordings.cassettes import (
    ANSWER,
    ANTHROPIC_EVENTS,
    DIALECTS,
    REQUEST,
    braintrust,
    cassette,
    sse,
    vcrpy,
)

VCR = format_named("vcr")


@pytest.mark.parametrize("data", DIALECTS.values(), ids=list(DIALECTS))
def test_every_dialect_says_the_same(data: bytes) -> None:
    assert VCR.recognises(data)
    recording = VCR.read(data)
    assert recording.refusals == ()
    (found,) = recording.transcripts
    assert [message.role for message in found.messages] == ["user", "assistant"]
    assert found.messages[0].blocks == (Text("roll a die"),)
    assert found.messages[1].blocks == (ToolUse("toolu_1", "roll", {"sides": 6}),)
    assert (found.wire, found.model, found.system) == ("anthropic", "claude-x", "be brief")
    assert found.tools[0].required == ("sides",)
    assert found.stops == {1: "tool_use"}
    assert (found.exchange, found.answered, found.complete) == (True, True, True)
    assert found.status == 200


def _one(*args: Any, **kwargs: Any) -> tuple[list[Transcript], list[str]]:
    recording = VCR.read(cassette(vcrpy(*args, **kwargs)))
    return list(recording.transcripts), [refusal.what for refusal in recording.refusals]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("not JSON", "request: not a JSON object"),
        ("[]", "request: not a JSON object"),
        ("", "request: not a JSON object"),
        ('{"prompt": "x"}', "request: no list of messages"),
        ({"base64_string": "x"}, "request: base64 is torn"),
    ],
)
def test_a_request_that_cannot_be_read_is_refused(body: Any, reason: str) -> None:
    assert _one(request=body) == ([], [reason])


def _base64(data: bytes) -> dict[str, str]:
    return {"base64_string": base64.b64encode(data).decode()}


def test_a_torn_gzip_answer_leaves_the_request() -> None:
    made = vcrpy()
    made["response"]["body"] = _base64(gzip.compress(json.dumps(ANSWER).encode())[:-9])
    recording = VCR.read(cassette(made))
    assert recording.refused == {"response: gzip is torn": 1}
    (found,) = recording.transcripts
    assert len(found.messages) == 1
    assert (found.answered, found.complete) == (False, False)


@pytest.mark.parametrize(
    ("body", "encoding", "kind", "reason"),
    [
        (b"", "", "application/json", "no body"),
        (b"\x83\x40\xff\x80", "br", "application/json", "compressed with br"),
        (b"\xff\xfe", "", "application/json", "body is not text"),
        (b"{}", "", "application/json", "no answer of a model"),
        (b"\0\0\0", "", "application/vnd.amazon.eventstream", "binary event stream is torn"),
    ],
)
def test_an_answer_that_cannot_be_read_says_why(
    body: bytes, encoding: str, kind: str, reason: str
) -> None:
    made = vcrpy()
    headers = {"content-type": kind, "content-encoding": encoding}
    made["response"] |= {"body": _base64(body), "headers": headers}
    recording = VCR.read(cassette(made))
    assert recording.refused == {f"response: {reason}": 1}
    assert recording.refusals[0].place == "interaction 1"
    assert len(recording.transcripts) == 1


def test_other_posts_are_refused_and_other_methods_are_none_of_ours() -> None:
    posts = [vcrpy(url=f"http://h/v1/{path}") for path in ("embeddings", "embeddings", "files")]
    recording = VCR.read(cassette(vcrpy(method="GET"), *posts))
    assert recording.transcripts == ()
    assert recording.refused == {
        "no LLM traffic: POST /v1/embeddings": 2,
        "no LLM traffic: POST /v1/files": 1,
    }


def test_a_file_without_a_post_says_what_it_holds() -> None:
    data = cassette(vcrpy(method="GET", url="http://h/v1/models"), vcrpy(method="HEAD"))
    refused = VCR.read(data).refused
    assert refused == {
        "no LLM traffic: GET /v1/models": 1,
        "no LLM traffic: HEAD /v1/messages": 1,
    }
    assert VCR.read(b"interactions: []\n").refused == {"no HTTP exchange is recorded": 1}


def test_an_error_is_an_answer_without_a_message() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    made = vcrpy(response=json.dumps(error))
    made["response"]["status"] = {"code": 529}
    (found,) = VCR.read(cassette(made)).transcripts
    assert len(found.messages) == 1
    assert found.error is not None
    assert (found.error.type, found.error.status, found.status) == ("overloaded_error", 529, 529)


def test_half_a_character_does_not_end_the_reading() -> None:
    request = json.dumps({**REQUEST, "messages": [{"role": "user", "content": "x\ud83d"}]})
    assert "\\ud83d" in request
    (found,), _ = _one(request=request)
    assert found.messages[0].text == "x?"


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b'{"interactions": [', "line 1"),
        (b"interactions:\n- request: {\n", "line 3"),
        (b"interactions: 3\n", "line 1"),
        (b"- interactions:\n", "line 1"),
        (b'{"interactions": []}\nx', "line 2"),
    ],
)
def test_a_torn_cassette_names_the_place(data: bytes, place: str) -> None:
    with pytest.raises(InputError) as caught:
        VCR.read(data)
    assert caught.value.place == place
    assert "\n" not in str(caught.value)


def test_odd_interactions_are_refused_one_by_one() -> None:
    recording = VCR.read(cassette(3, {}, {"request": {"method": "POST", "uri": "http://["}}))
    assert [r.what for r in recording.refusals] == [
        "no request",
        "no request",
        "no LLM traffic: POST /",
    ]


def test_the_events_of_a_recorded_stream_are_put_together() -> None:
    chunks = sse(*ANTHROPIC_EVENTS).decode().strip().split("\n\n")
    data = braintrust({"kind": "sse", "chunks": chunks})
    data = data.replace(b"application/json", b"text/event-stream")
    (found,) = VCR.read(data).transcripts
    assert found.messages[1].blocks == (ToolUse("toolu_1", "roll", {"sides": 6}),)
    assert found.complete


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"kind": "binary", "path": "blobs/1.bin"}, "the body stands in another file"),
        ({"kind": "empty"}, "no body"),
    ],
)
def test_a_body_that_is_not_in_the_cassette_is_no_answer(body: dict[str, str], reason: str) -> None:
    recording = VCR.read(braintrust(body))
    assert recording.refused == {f"response: {reason}": 1}
    assert [len(found.messages) for found in recording.transcripts] == [1]


def test_a_request_whose_body_stands_elsewhere_is_refused() -> None:
    data = json.loads(braintrust())
    data["entries"][0]["request"]["body"] = {"kind": "binary", "path": "blobs/2.bin"}
    recording = VCR.read(json.dumps(data).encode())
    assert recording.refused == {"request: the body stands in another file": 1}
    assert recording.transcripts == ()


def test_requests_and_responses_of_another_number_are_refused() -> None:
    request = json.dumps(vcrpy()["request"])
    with pytest.raises(InputError, match="1 requests and 0 responses"):
        VCR.read(f"requests:\n- {request}\nresponses: []\n".encode())


def test_a_cassette_without_an_entry_says_so() -> None:
    assert VCR.read(b'{"entries": [], "meta": {}}').refused == {"no HTTP exchange is recorded": 1}
