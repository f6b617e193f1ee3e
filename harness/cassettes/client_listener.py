"""Recording the clients of this process: vcrpy patches them and hands over their exchanges.

Only calls to a model are kept. vcrpy hands over whole answers, so only the recording proxy has
timing. The file appears whole or not at all, and not at all when the agent fails.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from harness.cassettes.cassette_file import wire_of
from harness.cassettes.recorder import ReceivedAnswer, Recorder, SentRequest
from harness.providers.shared.codec import encode


@contextlib.contextmanager
def recording(
    path: Path, *, secrets: Collection[str] = (), allowed: Collection[str] = ()
) -> Iterator[None]:
    """Record the calls to a model that this process makes meanwhile, and write them to `path`.

    Clients must be built on httpx2, httpx, requests, aiohttp or another library that vcrpy knows.
    Raises InputError when no call was made, when the file cannot be written, or when something in
    it still looks like a secret (see `Recorder`); the old file is then as it was.
    """
    recorder = Recorder(secrets, allowed)
    with listening(recorder):
        yield
    recorder.write(path)


@contextlib.contextmanager
def listening(recorder: Recorder, *, beside: Collection[str] = ()) -> Iterator[None]:
    """Let a recorder record the calls to a model that this process makes meanwhile.

    Calls to an address (`HOST:PORT`) of `beside` are recorded elsewhere and left out.
    """
    import vcr
    from vcr.record_mode import RecordMode

    listener = vcr.VCR(
        record_mode=RecordMode.ALL,
        before_record_request=lambda request: _meant(request, beside),
        decode_compressed_response=True,
        record_on_exception=False,
    )
    listener.register_persister(_NoFile)
    with listener.use_cassette("recording") as cassette:
        try:
            yield
        finally:
            for request, response in zip(cassette.requests, cassette.responses, strict=True):
                recorder.take(recorder.place(), _asked(request), _heard(response))


def _meant(request: Any, beside: Collection[str]) -> Any:
    parts = urlsplit(request.uri)
    is_meant = parts.netloc not in beside and wire_of(request.method, parts.path) is not None
    return request if is_meant else None


def _asked(request: Any) -> SentRequest:
    return SentRequest(
        request.method, request.uri, _headers(request.headers), _bytes(request.body_bytes)
    )


def _bytes(body: Any) -> bytes:
    """A request's body; vcrpy gives the value itself when a client sends a value as JSON."""
    if body is None or isinstance(body, (bytes, bytearray)):
        return bytes(body or b"")
    return body.encode() if isinstance(body, str) else encode(body)


def _heard(response: dict[str, Any]) -> ReceivedAnswer:
    status, body = response["status"], response["body"].get("string") or b""
    return ReceivedAnswer(
        status["code"], status["message"] or "", _headers(response["headers"]), body
    )


def _headers(held: Mapping[str, Any]) -> dict[str, str]:
    """Names in lower case; repeated headers are joined."""
    return {
        _text(name).lower(): ", ".join(map(_text, v)) if isinstance(v, list) else _text(v)
        for name, v in held.items()
    }


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


class _NoFile:
    """vcrpy's persister, without files: the recorder writes."""

    @staticmethod
    def load_cassette(path: str, serializer: Any) -> Any:
        from vcr.persisters.filesystem import (
            CassetteNotFoundError,
        )

        raise CassetteNotFoundError

    @staticmethod
    def save_cassette(path: str, cassette: Any, serializer: Any) -> None:
        """Write nothing: the recorder keeps the exchanges."""
