"""Recording: an agent's calls to a model, written by vcrpy, without secrets.

Only calls to a model are kept; whatever else the agent does passes through unrecorded. Redaction
stands between the wire and vcrpy's memory, so no secret is ever in what is written. A loopback
address becomes the provider's own, since a port means nothing tomorrow. The file appears whole or
not at all, and not at all when the agent fails.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from harness.cassettes.index import wire_of
from harness.cassettes.redact import kept_headers, mask_url
from harness.cassettes.redact_body import mask_body
from harness.core.errors import InputError

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_HOME = {
    "anthropic": "api.anthropic.com",
    "openai-chat": "api.openai.com",
    "openai-responses": "api.openai.com",
}
"""The host of each wire's provider."""


@contextlib.contextmanager
def recording(path: Path) -> Iterator[None]:
    """Record the calls to a model that this process makes meanwhile, and write them to `path`.

    Clients must be built on httpx2, httpx, requests, aiohttp or another library that vcrpy knows.
    Raises InputError when none was made, or when the file cannot be written; the old file is then
    as it was.
    """
    import vcr  # type: ignore[import-untyped]
    from vcr.record_mode import RecordMode  # type: ignore[import-untyped]

    recorder = vcr.VCR(
        record_mode=RecordMode.ALL,
        before_record_request=_kept_request,
        before_record_response=_kept_response,
        decode_compressed_response=True,
        record_on_exception=False,
    )
    recorder.register_persister(_AtomicFile)
    with recorder.use_cassette(str(path)) as cassette:
        yield
        if not cassette.requests:
            what = "no call to a model was recorded: does the agent use the base URL of its brief?"
            raise InputError(what, str(path))


class _AtomicFile:
    """vcrpy's persister: reads nothing, writes at once."""

    @staticmethod
    def load_cassette(path: str, serializer: Any) -> Any:
        """Recording starts afresh: what stands in the file is replaced."""
        from vcr.persisters.filesystem import (  # type: ignore[import-untyped]
            CassetteNotFoundError,
        )

        raise CassetteNotFoundError

    @staticmethod
    def save_cassette(path: str, cassette: Any, serializer: Any) -> None:
        """Write the cassette; raises InputError when that is not possible."""
        from vcr.serialize import serialize  # type: ignore[import-untyped]

        write_atomically(Path(path), serialize(cassette, serializer).encode())


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or as it was; raises InputError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(path)) from None
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(path)) from None
    finally:
        Path(name).unlink(missing_ok=True)


def _kept_request(request: Any) -> Any:
    """What is kept of a request; None for one that is no call to a model."""
    wire = wire_of(request.method, request.path)
    if wire is None:
        return None
    request.uri = mask_url(_at_home(request.uri, _HOME.get(wire.name, wire.name)))
    request.headers = kept_headers(dict(request.headers))
    request.body = mask_body(request.body_bytes or b"")
    return request


def _at_home(url: str, host: str) -> str:
    """A loopback address as the provider's own; what stands before the endpoint goes too."""
    parts = urlsplit(url)
    if parts.hostname not in _LOOPBACK:
        return url
    path = parts.path[parts.path.rindex("/v1/") :] if "/v1/" in parts.path else parts.path
    return urlunsplit(("https", host, path, parts.query, ""))


def _kept_response(response: Any) -> Any:
    """What is kept of an answer; the values of a header that came several times are joined."""
    held = {name: ", ".join(values) for name, values in response["headers"].items()}
    headers = kept_headers(held)
    content_type = headers.get("content-type", "")
    return {
        "status": response["status"],
        "headers": {name: [value] for name, value in headers.items()},
        "body": {"string": mask_body(response["body"]["string"], content_type)},
    }
