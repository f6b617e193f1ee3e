"""A recording proxy in front of a test's provider: how it is asked, and what it wrote."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import yaml

from harness.cassettes.cassette_file import read_cassette
from harness.cassettes.recorder import Recorder
from harness.cassettes.timing import Timing, from_metadata
from harness.clock import Clock
from harness.transports.recording_proxy import RecordingProxy
from harness.transports.upstream import ProviderAccess, Upstream
from tests.cassettes.recorded import ASK, said

HELLO = json.dumps(said("hello")).encode()
EVENT = b'event: ping\ndata: {"type": "ping"}\n\n'
STOP = b'event: message_stop\ndata: {"type": "message_stop"}\n\n'


@contextmanager
def proxy(
    url: str, *, key: str = "", calls_max: int | None = None, clock: Clock | None = None
) -> Iterator[tuple[RecordingProxy, Recorder]]:
    """A recording proxy before a provider, and what it records."""
    recorder = Recorder()
    both = {name: ProviderAccess(url, key) for name in ("anthropic", "openai")}
    with RecordingProxy(recorder, Upstream(both), calls_max=calls_max, clock=clock) as server:
        yield server, recorder


def post(server: RecordingProxy, path: str = "/v1/messages", **options: Any) -> httpx2.Response:
    """Ask for a message."""
    options.setdefault("json", ASK)
    return httpx2.post(f"{server.url}{path}", timeout=20, trust_env=False, **options)


def written(recorder: Recorder, path: Path) -> tuple[list[Any], dict[int, Timing]]:
    """The exchanges of the file, and their timings."""
    recorder.write(path / "x.yaml")
    metadata = yaml.load((path / "x.yaml").read_bytes(), yaml.CSafeLoader).get("metadata")
    return list(read_cassette(path / "x.yaml")), from_metadata(metadata)


def raw(server: RecordingProxy, first: bytes, then: bytes = b"") -> bytes:
    """All that the proxy says to these bytes; `then` is sent when it has said something.

    The path gets the token, and the host `x` is the proxy's.
    """
    url = urlsplit(server.url)
    named = first.replace(b" /", f" /{server.token}/".encode(), 1)
    named = named.replace(b"host: x", f"host: {url.netloc}".encode(), 1)
    with socket.create_connection((url.hostname, url.port), timeout=20) as client:
        client.sendall(named)
        heard = client.recv(1 << 16) if then else b""
        if then:
            client.sendall(then)
        while data := client.recv(1 << 16):
            heard += data
    return heard
