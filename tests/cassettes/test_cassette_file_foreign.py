"""Cassettes of other writers: the same exchange in every dialect is the same interaction."""

from __future__ import annotations

import json

import pytest
import yaml

from harness.cassettes.cassette_file import line_of, read_foreign
from harness.core.values.errors import InputError
from harness.recordings.http_interaction import Interaction
from tests.cassettes.recorded import cassette, interaction
from tests.recordings.cassettes import ANSWER, DIALECTS, MESSAGES_URL, REQUEST
from tests.recordings.imports import exchanges_in

_WHOLE = {name: data for name, data in DIALECTS.items() if "tags" not in name}
_WHOLE["vcrpy, tags, gzip"] = DIALECTS["vcrpy, tags, gzip"] + b"version: 1\n"


@pytest.mark.parametrize("name", _WHOLE)
def test_the_same_exchange_in_every_dialect(name: str) -> None:
    (found,) = read_foreign(_WHOLE[name]).interactions
    assert (found.method, found.uri, found.status) == ("POST", MESSAGES_URL, 200)
    assert found.reason == "OK"
    (exchange,) = exchanges_in(_WHOLE[name])
    assert exchange.path == "/v1/messages"
    assert json.loads(exchange.body) == REQUEST
    if name != "streamed":
        assert json.loads(exchange.answer.body) == ANSWER


CASSETTER = """
version: 1
interactions:
- request:
    method: POST
    uri: https://api.anthropic.com/v1/messages
    headers: {accept: [a, b]}
    body: {type: json, content: {model: m, n: 1.5, on: true, none: null}}
  response:
    status: 201
    body: {type: binary, content: 00ff10}
  recorded_at: '2026-01-01T00:00:00Z'
- request: {method: GET, uri: 'https://x.example/', body: {type: none}}
  response: {status: 299, body: {type: text, content: "caf\\u00e9"}}
"""


def test_cassetters_own_words() -> None:
    first, second = read_foreign(CASSETTER.encode()).interactions
    assert first == Interaction(
        method="POST",
        uri="https://api.anthropic.com/v1/messages",
        request_headers={"accept": ["a", "b"]},
        request_body=b'{"model":"m","n":1.5,"on":true,"none":null}',
        status=201,
        reason="Created",
        response_body=b"\x00\xff\x10",
        more={"recorded_at": "2026-01-01T00:00:00Z"},
    )
    assert (second.request_body, second.response_body) == (b"", "café".encode())
    assert (second.status, second.reason) == (299, "")


def test_binary_that_is_no_hexadecimal_text_is_named() -> None:
    with pytest.raises(InputError) as refused:
        read_foreign(CASSETTER.replace("00ff10", "00fg").encode())
    assert refused.value.what == "response: binary is not hexadecimal text"
    assert refused.value.place == "line 4: interaction 1"


def test_what_go_notes_beside_the_answer_is_kept() -> None:
    item = interaction()
    item["response"] |= {"duration": "1.5s", "proto": "HTTP/2.0"}
    (found,) = read_foreign(cassette({"id": 7, **item})).interactions
    assert found.more == {"id": 7, "duration": "1.5s"}


def test_metadata_is_kept() -> None:
    data = cassette(interaction()) + b"metadata: {a: {b: [1]}}\n"
    assert read_foreign(data).metadata == {"a": {"b": [1]}}


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_line_of_an_interaction(number: int) -> None:
    items = [{"n": n, "request": {"a": [1, {"b": 2}]}} for n in range(1, 4)]
    text = yaml.dump({"interactions": items, "version": 1})
    line = line_of(number, text.encode())
    assert line is not None
    assert f"n: {number}" in text.splitlines()[line - 1]
    assert line_of(4, text.encode()) is None


def test_a_file_without_its_end_is_whole_where_no_writer_promises_one() -> None:
    parsed = DIALECTS["pytest, parsed_body"].replace(b"version: 1\n", b"")
    assert len(list(read_foreign(parsed).interactions)) == 1
    assert len(list(read_foreign(DIALECTS["one interaction, JSON"]).interactions)) == 1
    with pytest.raises(InputError, match="torn"):
        read_foreign(DIALECTS["vcrpy, tags, gzip"])


def test_json_that_yaml_cannot_say_is_refused_without_a_line() -> None:
    request = {"method": "POST", "url": MESSAGES_URL, "headers": {"\ud800": ""}, "body": "{}"}
    data = json.dumps({"request": request, "response": 3}).encode()
    with pytest.raises(InputError, match="interaction 1"):
        read_foreign(data)
