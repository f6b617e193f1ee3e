"""A HAR as a cassette: it is played as a cassette is, and what it lacks is told."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from harness.cassettes.cassette_file import (
    archive_notes,
    is_cassette,
    load_cassette,
    parse_cassette,
    passed_over,
)
from harness.cassettes.cassette_player import NoCalls, cassette_script
from harness.core.values.errors import InputError
from tests.recordings import documents
from tests.recordings.documents import har_answer, har_entry
from tests.recordings.imports import exchanges_in

ASKED = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
BODY = har_answer()["text"].encode()


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _headers(entry: dict[str, Any], *pairs: tuple[str, str]) -> dict[str, Any]:
    entry["response"]["headers"] = [{"name": name, "value": value} for name, value in pairs]
    return entry


_PACKED = gzip.compress(BODY)
_STREAM = 'event: message_stop\r\ndata: {"type":"message_stop"}\r\n\r\n'

CONTENTS: dict[str, tuple[dict[str, Any], bytes]] = {
    "text": (har_answer(), BODY),
    "utf8": ({**har_answer(), "encoding": "utf8"}, BODY),
    "base64": ({"encoding": "base64", "text": _base64(BODY)}, BODY),
    "gzip in base64": ({"encoding": "base64", "text": _base64(_PACKED)}, BODY),
    "chunks of gzip": (
        {"encoding": "base64", "text": json.dumps([_base64(_PACKED[:9]), _base64(_PACKED[9:])])},
        BODY,
    ),
    "events": ({"mimeType": "text/event-stream", "text": _STREAM}, _STREAM.encode()),
    "nothing": ({"size": 0}, b""),
    "odd text": ({"text": "base64:é", "size": 9}, "base64:é".encode()),
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_a_body_is_played_as_it_was(kind: str) -> None:
    content, body = CONTENTS[kind]
    encoding = "gzip" if "gzip" in kind else "br"
    entry = _headers(har_entry(ASKED, content), ("content-encoding", encoding), (":status", "200"))
    (found,) = exchanges_in(documents.har([entry]))
    assert (found.number, found.answer.status, found.answer.body) == (1, 200, body)
    assert json.loads(found.body) == ASKED


def test_headers_of_http2_are_no_headers_and_values_of_one_name_stand_together() -> None:
    entry = har_entry(ASKED, har_answer())
    entry["request"]["headers"] = [
        {"name": ":authority", "value": "api.anthropic.com"},
        {"name": "a", "value": "1"},
        {"name": "a", "value": "2"},
    ]
    (item,) = parse_cassette(documents.har([entry])).interactions
    assert item.request_headers == {"a": ["1", "2"], "content-type": ["application/json"]}


def test_entries_are_played_in_the_order_in_which_they_began() -> None:
    times = ["2026-01-01T00:00:02Z", "2026-01-01T02:00:01+02:00", "2026-01-01T00:00:00.5Z"]
    entries = [
        {**har_entry(ASKED, {"text": f'"{n}"'}), "startedDateTime": time}
        for n, time in enumerate(times, start=1)
    ]
    assert [e.number for e in exchanges_in(documents.har(entries))] == [3, 2, 1]
    entries[1]["startedDateTime"] = "yesterday"
    assert [e.number for e in exchanges_in(documents.har(entries))] == [1, 2, 3]


def _entry(**changes: Any) -> dict[str, Any]:
    entry = har_entry(ASKED, har_answer())
    for place, value in changes.items():
        part = entry if place.startswith("_") else entry["response"]
        part[place] = value
    return entry


ODD: dict[str, tuple[Any, str]] = {
    "no entry": (3, "no request"),
    "no request": ({"response": {}}, "no request"),
    "typed websocket": (_entry(_resourceType="websocket"), "a websocket"),
    "websocket": (_entry(status=101), "a websocket"),
    "blocked": (_entry(status=0), "response: no answer came"),
    "not saved": (_entry(content={"size": 12, "mimeType": "x"}), "response: no body"),
    "shorter": (_entry(content={"size": 99, "text": '{"a":'}), "response: the body is truncated"),
    "said to be": (
        _entry(content={**har_answer(), "comment": "Truncated at 1 MB"}),
        "response: the body is truncated",
    ),
    "no question": (har_entry(ASKED, har_answer(), postData={}), "request: no body"),
    "torn base64": (_entry(content={"encoding": "base64", "text": "x"}), "response: base64"),
    "another host": (
        har_entry({}, {"text": ""}, url="https://cdn.example/a.js", method="GET"),
        "no LLM traffic: GET /a.js",
    ),
}


@pytest.mark.parametrize("kind", ODD)
def test_what_cannot_be_played_says_why(kind: str) -> None:
    entry, reason = ODD[kind]
    data = documents.har([entry, har_entry(ASKED, har_answer())])
    assert [found.number for found in exchanges_in(data)] == [2]
    ((number, why),) = passed_over(parse_cassette(data))
    assert number == 1
    assert why.what.startswith(reason)


def test_a_size_of_compressed_bytes_says_nothing() -> None:
    entry = _headers(_entry(content={"size": 99, "text": "data: x"}), ("content-encoding", "gzip"))
    assert len(exchanges_in(documents.har([entry]))) == 1


def test_what_is_passed_over_is_told_once_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.har"
    others = [har_entry({}, {"text": ""}, url=f"https://h/{n}", method="GET") for n in range(7)]
    path.write_bytes(documents.har([*others, ODD["blocked"][0]]))
    assert archive_notes(path) == [
        "skipped, no LLM traffic: entries 1, 2, 3, 4, 5 and 2 more",
        "skipped, response: no answer came, the response has no status: entry 8",
    ]
    with pytest.raises(NoCalls, match="is a call to a model; skipped, no LLM traffic"):
        cassette_script(path, "anthropic")


def test_a_har_is_a_cassette_and_a_torn_one_is_told_with_its_line(tmp_path: Path) -> None:
    data = documents.har([har_entry(ASKED, har_answer())])
    assert is_cassette(data)
    assert not is_cassette(b'{"log": {"level": 3}}')
    path = tmp_path / "a.har"
    path.write_bytes(data[:-9])
    with pytest.raises(InputError, match=r"a\.har: line 1: not JSON"):
        load_cassette(path)
