"""A body that cannot be read is a 400 with a sentence at every seam, and on record."""

from __future__ import annotations

import pytest

from harness.core.history.events import Called, Refused
from tests.transports.every_server import SERVERS, answer

pytestmark = pytest.mark.usefixtures("no_traceback")

DEEP = b"[" * 100_000
BODIES = {
    "bytes": b"\xff\xfe{}",
    "a text that is not UTF-8": b'{"text": "\xff", "id": "\xff", "input": {"a": "\xff"}}',
    "not UTF-8 in what the outbox takes": b'{"text": "\xff"}',
    "not UTF-8 in what a tool takes": b'{"input": {"a": "\xff"}}',
    "half": b'{"text": "',
    "nothing": b"",
    "null": b"null",
    "a number": b"3",
    "a list": b"[]",
    "a text": b'"x"',
    "another type": b'{"text": 5, "input": 5, "id": 5}',
    "too deep": DEEP,
    "an input too deep": b'{"input": ' + DEEP,
    "a number of 5,000 digits": b'{"text": "\\ud800", "id": ' + b"9" * 5000 + b"}",
    "an unknown field of a megabyte": b'{"' + b"x" * (1 << 20) + b'": 1}',
    "NUL": b"\x00",
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("name", ["model", "tools", "outbox", "mcp"])
def test_a_body_that_cannot_be_read_is_told_so_and_on_record(name: str, body: str) -> None:
    with SERVERS[name]() as server:
        said = answer(server, server._replace(body=BODIES[body]).request())
        good = answer(server, server.request())
    head, _, text = said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 "), said[:300]
    assert 20 < len(text) < 4000
    assert good.startswith(b"HTTP/1.1 20")
    assert server.history is not None
    first = next(e for e in server.history.events[1:] if isinstance(e, (Called, Refused)))
    if isinstance(first, Refused):
        assert (first.status, first.request) == (400, f"{server.method} {server.behind_token}")
        assert 20 < len(first.text) < 600
    else:
        assert name == "model"
        assert first.refused
