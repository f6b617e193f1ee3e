"""Archives: bodies as text, base64 or its chunks; what is not LLM traffic says so."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest
import yaml

from harness.core.values.errors import InputError
from harness.recordings.recognition import format_named, format_of
from tests.recordings import documents
from tests.recordings.documents import har_answer, har_entry

HAR = format_named("har")

ASKED = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _packed(parts: int) -> dict[str, Any]:
    """The answer, gzipped and in a given number of chunks of base64."""
    data = gzip.compress(har_answer()["text"].encode())
    size = -(-len(data) // parts)
    chunks = [_base64(data[at : at + size]) for at in range(0, len(data), size)]
    return {"mimeType": "application/json", "encoding": "base64", "text": json.dumps(chunks)}


@pytest.mark.parametrize(
    "content",
    [
        har_answer(),
        {**har_answer(), "encoding": "utf8"},
        {**har_answer(), "encoding": "base64", "text": _base64(har_answer()["text"].encode())},
        _packed(1),
        _packed(3),
    ],
)
def test_an_exchange_is_the_request_and_its_answer(content: dict[str, Any]) -> None:
    recording = HAR.read(documents.har([har_entry(ASKED, content)]))
    assert recording.refusals == ()
    (found,) = recording.transcripts
    assert [(m.role, m.text) for m in found.messages] == [("user", "hi"), ("assistant", "two")]
    assert (found.wire, found.model, found.status) == ("anthropic", "m", 200)
    assert (found.exchange, found.answered, found.name) == (True, True, "interaction 1")


def test_a_stream_is_put_together() -> None:
    events = [{"type": "response.completed", "response": {"status": "completed", "output": []}}]
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    entry = har_entry({"input": "hi"}, {"mimeType": "text/event-stream", "text": text})
    entry["request"]["url"] = "https://api.openai.com/v1/responses"
    (found,) = HAR.read(documents.har([entry])).transcripts
    assert (found.wire, found.answered) == ("openai-responses", True)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({}, "response: no body"),
        ({"text": "<html>"}, "response: no answer of a model"),
        ({"encoding": "base64", "text": "x"}, "response: base64 is torn"),
        ({"encoding": "base64", "text": "[3]"}, "response: "),
        ({"encoding": "base64", "text": '["/////w=="]'}, "response: body is not text"),
        (
            {"text": '{"status": "queued"}'},
            "response: an answer in the background, which comes elsewhere",
        ),
    ],
)
def test_an_answer_that_cannot_be_read_leaves_the_request(
    content: dict[str, Any], reason: str
) -> None:
    recording = HAR.read(documents.har([har_entry(ASKED, content)]))
    assert [refusal.what.startswith(reason) for refusal in recording.refusals] == [True]
    assert len(recording.transcripts[0].messages) == 1


def test_what_is_no_llm_traffic_says_so() -> None:
    entries = [
        har_entry({}, {}, url="https://api.openai.com/v1/embeddings"),
        har_entry({}, {}, url="https://api.openai.com/v1/completions"),
        har_entry({}, {}, url="http://h/x", method="GET"),
    ]
    recording = HAR.read(documents.har([*entries, 3]))
    assert recording.transcripts == ()
    assert [refusal.what for refusal in recording.refusals] == [
        "no LLM traffic: POST /v1/embeddings",
        "a text completion, which has no messages: POST /v1/completions",
        "no request",
    ]
    only = HAR.read(documents.har(entries[2:]))
    assert only.refused == {"no LLM traffic: GET /x": 1}
    assert HAR.read(documents.har([])).refused == {"no HTTP exchange is recorded": 1}


@pytest.mark.parametrize("data", [b"{}", b"[]", b'{"log": {"entries": {}}}', b'{"log": []}'])
def test_what_is_no_archive_is_refused(data: bytes) -> None:
    assert not HAR.recognises(data)
    with pytest.raises(InputError, match=r"log\.entries"):
        HAR.read(data)


def test_what_is_no_whole_answer_of_http_says_so() -> None:
    cut = har_entry(ASKED, {"size": 99, "text": '{"a":'})
    blocked = har_entry(ASKED, {})
    blocked["response"]["status"] = 0
    socket = {**har_entry({}, {}, method="GET", url="wss://h/v1/responses"), "_order": 0}
    recording = HAR.read(documents.har([cut, blocked, socket]))
    assert [(refusal.place, refusal.what) for refusal in recording.refusals] == [
        ("interaction 1", "response: the body is truncated"),
        ("interaction 2", "response: no answer came, the response has no status"),
        (
            "interaction 3",
            "a websocket, whose messages are not HTTP answers: GET /v1/responses",
        ),
    ]
    assert [len(found.messages) for found in recording.transcripts] == [1, 1]


def test_an_archive_may_be_yaml() -> None:
    archive = documents.har([har_entry(ASKED, _packed(3))])
    data = yaml.safe_dump(json.loads(archive), sort_keys=False).encode()
    assert data.startswith(b"log:\n")
    assert format_of(data) == "har"
    assert HAR.read(data) == HAR.read(archive)


def test_yaml_without_entries_is_no_archive() -> None:
    assert not HAR.recognises(b"log:\n  level: debug\n")
