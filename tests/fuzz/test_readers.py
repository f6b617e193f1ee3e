"""Some hundreds of mutated files on every reader, and those that were once a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from harness.core.values.errors import InputError
from tests.fuzz.readers.campaign import failure
from tests.fuzz.readers.mutations import mutated
from tests.fuzz.readers.readers import READERS, read
from tests.fuzz.readers.seeds import seeds

DEEP = b'{"a":' * 400 + b"1" + b"}" * 400
CALL = b'{"tool_call_id": "a", "function_name": "f", "arguments": ' + DEEP + b"}"
ATIF = (
    b'{"schema_version": "ATIF-v1.4", "session_id": "x", "agent": {"name": "x"}, "steps": '
    b'[{"step_id": 0, "source": "user", "message": "hi"}, {"step_id": 1, "source": "agent", '
    b'"message": "m", "tool_calls": [' + CALL + b"]}]}"
)
STARTED = b'{"event":"started","n":1,"v":%d,"run":"r","scenario":"s"}\n'
INBOX = b'{"event":"answered","n":2,"key":"main/inbox#1","seam":"inbox","value":{"id":["x"]}}\n'

BROKEN = [
    ("recording", ATIF, "nested too deeply"),
    ("history", b'{"event": "started", "run": "\xb2"}\n', "damaged history"),
    ("history", b'{"event":"answered","n":1,"key":"k","seam":"inbox","value":{"id":["x"]}}\n',
     "damaged history"),
    ("history", b'{"event":"value","n":1,"digest":"d","value":' + b"[" * 5000, "too deeply"),
    ("configuration", b'profile = "' + b"m" * 5000 + b'"', "no profile of this name"),
    ("configuration", b"a = " + b"[" * 5000, "not TOML"),
    ("configuration", b"seed = " + b"9" * 5000, "not TOML"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "said"), BROKEN)
def test_what_was_a_traceback_is_a_refusal(
    tmp_path: Path, name: str, data: bytes, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        READERS[name](tmp_path, data)


def test_a_part_whose_kind_is_no_text(tmp_path: Path) -> None:
    body = (
        b'{"object": "response", "status": "completed", "output": [{"type": "message", '
        b'"role": "assistant", "content": [{"type": {"a": 1}}]}]}'
    )
    assert read("model_body", tmp_path, body) == ""


def _cassette(request: str, answer: str) -> bytes:
    url = "https://api.anthropic.com/v1/messages"
    headers = {"content-type": ["application/json"]}
    item = {
        "request": {"method": "POST", "uri": url, "body": request, "headers": headers},
        "response": {"status": {"code": 200, "message": "OK"}, "headers": headers,
                     "body": {"string": answer}},
    }  # fmt: skip
    return json.dumps({"interactions": [item], "version": 1}).encode()


def test_a_cassette_whose_request_has_no_messages(tmp_path: Path) -> None:
    said = read("cassette", tmp_path, _cassette('{"model": "m", "messages": []}', "{}"))
    assert "the first recorded request has no messages" in said


@pytest.mark.parametrize("name", READERS)
def test_mutated_files(tmp_path: Path, name: str) -> None:
    draws, own = Random(f"{name} 17"), seeds(name)
    for _ in range(6 if name == "mcp_body" else 30):
        data = mutated(draws.choice(own), draws.choice(own), draws)
        assert failure(name, tmp_path, data) == "", data


def test_a_failure_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(folder: Path, data: bytes) -> None:
        raise TypeError("no")

    monkeypatch.setitem(READERS, "overlay", broken)
    assert failure("overlay", tmp_path, b"").startswith("TypeError: no at ")
