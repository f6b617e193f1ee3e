"""A recording full of planted secrets reaches the disk with none of them, by either recorder."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from harness.cassettes.cassette_file import load_cassette, read_cassette
from harness.cassettes.client_listener import recording
from harness.cassettes.recorder import ReceivedAnswer, Recorder, SentRequest, masked_exchange
from harness.core.values.errors import InputError
from harness.transports.access_check import new_token
from harness.transports.recording_proxy import RecordingProxy
from harness.transports.upstream import ProviderAccess, Upstream
from tests.cassettes.clients import by_httpx2
from tests.cassettes.recorded import ASK, said
from tests.transports.upstreams import STREAM_HEAD, answering, whole

PLANTED = {
    "header": "sk-ant-api03-" + "Hd7" * 12,
    "bearer": "b7Tq" * 8,
    "cookie": "c0okie" * 5,
    "query": "qUery-value-1234",
    "user": "us3r-p4ssword",
    "prompt": "sk-proj-" + "Pr0" * 14,
    "system": "ghp_" + "Sy5tem" * 6,
    "tool result": "xoxb-" + "123456789012-" + "T00lRes",
    "AWS id": "AKIA" + "IOSFODNN7EXAMPL3",
    "AWS secret": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "PEM": "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
    "JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl",
    "base64": base64.b64encode(b"token: sk-ant-api03-" + b"B64" * 12).decode(),
    "nested": "sk-ant-api03-" + "Ne5ted" * 6,
    "escaped": "glpat-" + "Esc4ped-" * 4,
    "streamed": "sk-ant-api03-" + "5tr3am" * 6,
    "streamed arguments": "ghs_" + "Argument5" * 4,
    "error": "AIza" + "Err0r-" * 5 + "xxxxx",
    "URL": "dbpassw0rd",
    "password": "correct-horse-battery-staple-9",
    "Stripe": "sk_live_" + "5tripe" * 5,
    "Hugging Face": "hf_" + "huGGing" * 5,
}
"""Where each is planted, and what must be nowhere."""


def request() -> dict[str, Any]:
    """A request with secrets in its prompt, its tools' results and their arguments."""
    escaped = "".join(f"\\u{ord(c):04x}" for c in PLANTED["escaped"])
    pem = f"-----BEGIN RSA PRIVATE KEY-----\n{PLANTED['PEM']}\n-----END RSA PRIVATE KEY-----"
    env = f"AWS_ACCESS_KEY_ID={PLANTED['AWS id']}\nAWS_SECRET_ACCESS_KEY={PLANTED['AWS secret']}"
    nested = json.dumps({"headers": json.dumps({"x-api-key": PLANTED["nested"]})})
    texts = [
        f"my key is {PLANTED['prompt']}",
        env,
        pem,
        f"jwt {PLANTED['JWT']} and {PLANTED['base64']}",
        nested,
        '{"deep": "' + escaped + '"}',
        f"postgres://admin:{PLANTED['URL']}@db.example.com/x",
    ]
    result = {"type": "tool_result", "tool_use_id": "t", "content": PLANTED["tool result"]}
    blocks = [{"type": "text", "text": text} for text in texts]
    return {
        **ASK,
        "system": f"use {PLANTED['system']}",
        "messages": [{"role": "user", "content": [*blocks, result]}],
        "metadata": {"password": PLANTED["password"]},
    }


def stream() -> bytes:
    """A stream that says one secret in its text and one in its arguments, in small pieces."""
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**said(""), "content": []}}
    ]
    arguments = json.dumps({"auth": json.dumps({"token": PLANTED["streamed arguments"]})})
    for index, (field, text) in enumerate(
        [("text", f"it is {PLANTED['streamed']}, keep it"), ("partial_json", arguments)]
    ):
        kind = "text_delta" if field == "text" else "input_json_delta"
        events += [
            {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": kind, field: text[n : n + 7]},
            }
            for n in range(0, len(text), 7)
        ]
    events.append({"type": "message_stop"})
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()


def answer(body: bytes) -> bytes:
    """A stream, or an error that quotes keys."""
    cookie = f"set-cookie: session={PLANTED['cookie']}".encode()
    if b'"stream"' in body:
        return whole(stream(), cookie, head=STREAM_HEAD)
    words = " ".join(PLANTED[name] for name in ("error", "Stripe", "Hugging Face"))
    said_so = {"type": "error", "error": {"type": "authentication_error", "message": words}}
    return whole(json.dumps(said_so).encode(), cookie, f"request-id: {PLANTED['error']}".encode())


HEADERS = {
    "x-api-key": PLANTED["header"],
    "authorization": f"Bearer {PLANTED['bearer']}",
    "cookie": f"session={PLANTED['cookie']}",
    "anthropic-beta": f"a, {PLANTED['prompt']}",
}
QUERY = f"?api_key={quote(PLANTED['query'])}&beta=true&u={quote(PLANTED['prompt'])}"


@contextmanager
def _by_vcrpy(url: str, path: Path) -> Iterator[str]:
    with recording(path):
        yield url.replace("//", f"//me:{PLANTED['user']}@")


@contextmanager
def _by_the_proxy(url: str, path: Path) -> Iterator[str]:
    recorder = Recorder()
    both = {name: ProviderAccess(url) for name in ("anthropic", "openai")}
    with RecordingProxy(recorder, Upstream(both)) as server:
        yield server.url
    recorder.write(path)


@pytest.mark.parametrize("recorder", [_by_vcrpy, _by_the_proxy])
def test_none_reaches_the_disk(recorder: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    heard = b""
    with answering(answer) as url, recorder(url, path) as base:
        for asked in (request(), {**ASK, "stream": True}):
            heard += by_httpx2(f"{base}/v1/messages{QUERY}", asked, HEADERS)
    assert PLANTED["error"].encode() in heard, "the agent hears what was said"
    written = path.read_text("utf-8")
    for name, secret in PLANTED.items():
        assert secret not in written, name
        assert secret[4:] not in written, name
        assert base64.b64encode(secret.encode()).decode()[:24] not in written, name
    exchanges = list(read_cassette(path))
    assert len(exchanges) == 2
    for exchange in exchanges:
        text = (exchange.body + exchange.answer.body).decode()
        assert json.loads(exchange.body)["messages"]
        joined = "".join(_pieces(text))
        assert [name for name, secret in PLANTED.items() if secret in joined] == []
        assert "sk-ant" not in joined
    assert list(tmp_path.iterdir()) == [path]


def _pieces(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.startswith("data:"):
            delta = json.loads(line[5:]).get("delta", {})
            yield from (str(delta.get(name, "")) for name in ("text", "partial_json"))


def test_what_has_no_shape_and_no_name_is_known_by_the_environment(tmp_path: Path) -> None:
    key = "no shape no name"
    recorder = Recorder(secrets=[key])
    both = {name: ProviderAccess("http://127.0.0.1:9") for name in ("anthropic", "openai")}
    asked = {**ASK, "messages": [{"role": "user", "content": f"it is {key}."}]}
    with (
        answering(lambda body: whole(json.dumps(said("thanks")).encode())) as url,
        RecordingProxy(recorder, Upstream({n: ProviderAccess(url) for n in both})) as server,
    ):
        by_httpx2(f"{server.url}/v1/messages", asked, {})
    with pytest.raises(InputError) as error:
        recorder.write(tmp_path / "x.yaml")
    assert "exchange 1, request's body: a key of this process" in error.value.lines()[1]
    assert [path.name for path in tmp_path.iterdir()] == ["x.yaml.part"]
    (kept,) = load_cassette(tmp_path / "x.yaml.part").interactions
    assert json.loads(kept.request_body) == {
        **ASK, "messages": [{"role": "user", "content": "it is [REDACTED]."}]
    }  # fmt: skip


@pytest.mark.parametrize("path", ["/v1/messages", "/model/claude/invoke"])
def test_the_token_of_a_server_of_ours_is_in_no_recording(path: str) -> None:
    url = f"http://127.0.0.1:8000/{new_token()}{path}"
    asked = SentRequest("POST", url, {}, b"{}")
    made = masked_exchange(asked, ReceivedAnswer(200, "OK", {}, b"{}"))
    assert made.item.uri == f"https://api.anthropic.com{path}"
