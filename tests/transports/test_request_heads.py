"""The short way past h11 reads what h11 reads, and leaves the rest to it."""

from __future__ import annotations

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.transports.request_heads import PlainHeads, plain_head

TOKENS = st.text("abcXYZ019-_!#$&'*+.^`|~", min_size=1, max_size=12)
VALUES = st.text('abc XYZ\t019-_:;,/="()é\x00\x7f', max_size=12)
NAMED = st.sampled_from(
    [
        ("Host", "h"),
        ("host", "127.0.0.1:80"),
        ("Content-Length", "3"),
        ("content-length", "03"),
        ("content-length", "-1"),
        ("content-length", "3, 3"),
        ("content-length", "99999999999999999"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "keep-alive"),
        ("Connection", "close"),
        ("Expect", "100-continue"),
        ("x-stainless-read-timeout", "600"),
    ]
)
HEADERS = st.lists(st.one_of(st.tuples(TOKENS, VALUES), NAMED, NAMED), max_size=8)
LINES = st.sampled_from(
    [
        *(
            "POST /v1/messages HTTP/1.1",
            "GET /a?b=c HTTP/1.1",
            "POST /x HTTP/1.0",
            "GET * HTTP/1.1",
        ),
        *(
            "get /x HTTP/1.1",
            "POST  /x HTTP/1.1",
            "POST /x y HTTP/1.1",
            "POST /x HTTP/2",
            "",
            "POST",
        ),
        *("GET http://h/x HTTP/1.1", "POST /\x7f HTTP/1.1", "POST /é HTTP/1.1"),
    ]
)
ENDS = st.sampled_from(["\r\n", "\n", "\r\n "])


@given(LINES, HEADERS, ENDS, st.sampled_from([b"", b"abc", b"abcdef"]))
def test_what_is_read_here_h11_reads_the_same(
    line: str, headers: list[tuple[str, str]], end: str, body: bytes
) -> None:
    lines = [line, *(f"{name}: {value}" for name, value in headers)]
    data = "\r\n".join(lines).encode("latin-1") + end.encode() + b"\r\n" + body
    found = plain_head(data)
    if found is None:
        return
    reader = h11.Connection(h11.SERVER)
    reader.receive_data(data)
    event = reader.next_event()
    assert isinstance(event, h11.Request)
    assert found.method == event.method.decode()
    path, _, query = event.target.decode().partition("?")
    assert (found.path, found.query) == (path, query)
    headers = {name.decode(): value.decode("latin-1") for name, value in event.headers}
    assert found.length == int(headers.pop("content-length", "0"))
    assert found.headers == headers
    assert data[found.end :] == body
    read = b""
    while isinstance(event := reader.next_event(), h11.Data):
        read += bytes(event.data)
    assert read == body[: found.length]


PLAIN = b"POST /v1/messages HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"


def test_an_sdk_request_is_plain() -> None:
    found = plain_head(PLAIN)
    assert found is not None
    assert (found.method, found.path, found.length) == ("POST", "/v1/messages", 3)
    assert PLAIN[found.end :] == b"abc"


@pytest.mark.parametrize(
    "data",
    [
        PLAIN[:-6],
        PLAIN.replace(b"HTTP/1.1", b"HTTP/1.0"),
        PLAIN.replace(b"Host: h\r\n", b""),
        PLAIN.replace(b"Host: h", b"Host: h\r\nHost: g"),
        PLAIN.replace(b"Host: h", b"Host: h\r\nTransfer-Encoding: chunked"),
        PLAIN.replace(b"Host: h", b"Host: h\r\nConnection: close"),
        PLAIN.replace(b"Host: h", b"Host: h\r\nExpect: 100-continue"),
        PLAIN.replace(b"Host: h", b"Host : h"),
        PLAIN.replace(b": 3", b": 3, 3"),
        PLAIN.replace(b"Host: h", b"Host: h\r\nx: " + b"y" * 70_000),
        b"\x16\x03\x01\x02\x00",
        b"",
    ],
)
def test_what_is_not_plain_is_left_to_h11(data: bytes) -> None:
    assert plain_head(data) is None


@given(st.lists(st.tuples(st.integers(0, 99), st.text("abc", min_size=1)), min_size=2, max_size=4))
def test_heads_that_share_lines_are_read_each_by_itself(sent: list[tuple[int, str]]) -> None:
    for length, mark in sent:
        lines = ["POST /x HTTP/1.1", "Host: h", f"Content-Length: {length}", f"X-Mark: {mark}"]
        found = plain_head("\r\n".join([*lines, "", ""]).encode())
        assert found is not None
        assert found.length == length
        assert found.headers == {"host": "h", "x-mark": mark}
        found.headers.clear()


LENGTHS = st.sampled_from(["0", "3", "03", "12345678901", "123456789012", "3 ", "-1", "\u0663", ""])
MORE = st.sampled_from(["", "X-A: b\r\n", "Connection: close\r\n", "content-length: 4\r\n"])
REQUESTS = st.tuples(
    st.sampled_from(["POST /v1/messages HTTP/1.1", "GET /a?b=c HTTP/1.1", "GET / HTTP/1.0"]),
    MORE,
    st.sampled_from(["Content-Length: ", "content-length:"]),
    LENGTHS,
    MORE,
    st.sampled_from([None, None, None, 20, 50, -4]),
)


@given(st.lists(REQUESTS, max_size=6))
def test_the_next_head_of_a_connection_is_read_as_any_other(
    requests: list[tuple[str, str, str, str, str, int | None]],
) -> None:
    connection = PlainHeads()
    for line, more, name, length, behind, cut in requests:
        head = f"{line}\r\nHost: h\r\n{more}{name}{length}\r\n{behind}\r\nabc"
        data = head.encode()[:cut]
        assert connection.read(data) == plain_head(data)


def test_a_head_with_another_length_is_known_again(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = PlainHeads()
    connection.read(PLAIN)
    monkeypatch.setattr("harness.transports.request_heads.plain_head", None)
    again = connection.read(PLAIN.replace(b": 3", b": 12"))
    assert again is not None
    assert (again.length, again.headers) == (12, {"host": "h"})
