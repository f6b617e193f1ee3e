"""Cassette files: exchanges, or one line that names the file and the place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes.cassette_file import read_cassette
from harness.core.values.errors import InputError
from tests.cassettes.recorded import ASK, cassette, interaction, said
from tests.recordings.imports import exchanges_in


def test_an_exchange_has_request_and_answer() -> None:
    (exchange,) = exchanges_in(cassette(interaction()))
    assert (exchange.number, exchange.method, exchange.path) == (1, "POST", "/v1/messages")
    assert json.loads(exchange.body) == ASK
    assert exchange.answer.status == 200
    assert json.loads(exchange.answer.body) == said("hello")


@pytest.mark.parametrize(
    "body",
    ["plain é 😀", b"\xff\x00 binary", gzip.compress(b"packed", mtime=0), "", "data: {}\n\n"],
)
def test_bodies_come_back_as_bytes(body: str | bytes) -> None:
    (exchange,) = exchanges_in(cassette(interaction(answer=body)))
    wanted = body.encode() if isinstance(body, str) else body
    assert exchange.answer.body == (b"packed" if wanted[:2] == b"\x1f\x8b" else wanted)


def test_no_body_is_empty() -> None:
    item = interaction()
    item["request"]["body"] = None
    assert exchanges_in(cassette(item))[0].body == b""


def test_headers_that_would_lie_about_the_body_are_dropped_and_values_joined() -> None:
    headers = {
        "Content-Type": ["application/json"],
        "Content-Encoding": ["gzip"],
        "Content-Length": ["9"],
        "Transfer-Encoding": ["chunked"],
        "Set-Cookie": ["a=1", "b=2"],
        "Anthropic-Beta": ["x", "y"],
    }
    (exchange,) = exchanges_in(cassette(interaction(headers=headers)))
    assert exchange.answer.headers == {
        "content-type": "application/json",
        "anthropic-beta": "x, y",
    }


def test_the_older_shape_of_answers_is_read() -> None:
    item = interaction()
    item["response"] = {"status_code": 200, "content": "{}", "headers": {}, "http_version": "1"}
    assert exchanges_in(cassette(item))[0].answer.body == b"{}"


def _without(part: str, name: str) -> bytes:
    item = interaction()
    del item[part][name]
    return cassette(interaction(), item)


def _unpacked_request() -> bytes:
    item = interaction(request=b"\xff\x01")
    item["request"]["headers"] = {"Content-Encoding": ["br"]}
    return cassette(item)


BOMB = b"".join(b"- &b%d [%s]\n" % (n, b", ".join([b"*a"] * 9)) for n in range(1)) + b"".join(
    b"- &b%d [%s]\n" % (n, b", ".join([b"*b%d" % (n - 1)] * 10)) for n in range(1, 9)
)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "the file is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0", "binary"),
        (b"SQLite format 3\0", "binary"),
        (b" \n", "the file is empty"),
        (b"name: x\nscript: []\n", "line 1: a cassette has a list interactions"),
        (b"interactions: 3", "line 1: a cassette has a list interactions"),
        (b"- 1", "line 1: a cassette is a mapping, this is a list"),
        (cassette(interaction())[:-200], "not YAML: found unexpected end of stream"),
        (cassette(interaction()).replace(b"version: 1\n", b""), "torn: `version:` at the end"),
        (b"http_interactions: []", "torn: `recorded_with:` at the end"),
        (cassette().replace(b"1", b"3"), "`version` is 3: known are 1 and 2"),
        (cassette() + b"version: 1\n", "the key 'version' stands twice"),
        (b"\xff\xfe" + cassette(interaction()), "begins as UTF-16 and is not UTF-16: "),
        (
            "interactions: [é]".encode("latin-1"),
            "line 1: not UTF-8: save the file in that encoding",
        ),
        (b"- &a [x, x]\n" + BOMB, "aliases make it grow beyond all measure"),
        (b'{"interactions": [', "line 1: not JSON: "),
        (cassette() + b"grpc_interactions: [1]\n", "`grpc_interactions` are not HTTP"),
        (b"interactions:\n- 5\nversion: 1", "interaction 1: there is no `request`"),
        (_without("request", "uri"), "interaction 2: the request has no `uri`"),
        (_without("response", "status"), "interaction 2: the response has no `status`"),
        (cassette(interaction(uri="https://[x")), "interaction 1: `uri` is not a URL"),
        (cassette(interaction(status=7)), "no `status` with a `code`"),
        (
            cassette(interaction(answer=gzip.compress(b"x" * 99)[:-9])),
            "interaction 1: gzip is torn",
        ),
        (_unpacked_request(), "interaction 1: compressed with br"),
    ],
)
def test_what_is_no_cassette_is_one_line_with_file_and_place(
    data: bytes, what: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(data)
    with pytest.raises(InputError) as refused:
        read_cassette(path)
    text = str(refused.value)
    assert text.startswith(f"{path}: ")
    assert what in text
    assert "\n" not in text


def test_an_encoding_that_we_cannot_undo_is_played_under_its_name() -> None:
    headers = {"Content-Type": ["application/json"], "Content-Encoding": ["br"]}
    (exchange,) = exchanges_in(cassette(interaction(answer=b"\xff\x01", headers=headers)))
    assert exchange.answer.body == b"\xff\x01"
    assert exchange.answer.headers["content-encoding"] == "br"


def test_a_tag_that_would_run_code_is_plain_data(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    tag = f"!!python/object/apply:os.system ['touch {ran}']"
    data = cassette(interaction()) + f"metadata: {{x: {tag}}}\n".encode()
    assert len(exchanges_in(data)) == 1
    assert not ran.exists()


def test_what_is_no_call_to_a_model_is_passed_over_and_keeps_its_number() -> None:
    other = interaction(uri="https://example.com/x.png", answer=b"\x1f\x8b torn")
    (exchange,) = exchanges_in(cassette(other, interaction()))
    assert exchange.number == 2


def test_a_place_has_line_and_number() -> None:
    with pytest.raises(InputError) as refused:
        exchanges_in(_without("request", "uri"))
    assert refused.value.place.startswith("line ")


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.yaml: cannot be read"):
        read_cassette(tmp_path / "gone.yaml")


@given(st.data())
def test_a_torn_file_is_never_taken_for_a_whole_one(data: st.DataObject) -> None:
    whole = cassette(interaction(), interaction(answer=said("again")))
    torn = whole[: data.draw(st.integers(0, len(whole) - 2))]
    with pytest.raises(InputError):
        exchanges_in(torn)
