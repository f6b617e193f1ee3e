"""A recording in the making: exchanges as they end, in the order in which they were asked.

Whoever hears an exchange hands it over: vcrpy for a client in this process, the recording proxy
for a program of any language. To take one costs the agent nothing; it is redacted when the file
is written, and looked through once more. The file is vcrpy's own format, written by vcrpy.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.cassettes.atomic import write_atomically
from harness.cassettes.kept import Asked, Heard, Kept, kept
from harness.cassettes.scan import refuse, suspects
from harness.cassettes.timing import to_metadata
from harness.core.values.errors import InputError


class Recorder:
    """Takes exchanges from any thread, and writes them as a cassette.

    `secrets` are values that must stand nowhere in it, `allowed` the digests of false alarms.
    """

    def __init__(self, secrets: Collection[str] = (), allowed: Collection[str] = ()) -> None:
        self._secrets, self._allowed = secrets, allowed
        self._lock = threading.Lock()
        self._places = 0
        self._taken: dict[int, tuple[Asked, Heard]] = {}

    def __len__(self) -> int:
        return len(self._taken)

    def place(self) -> int:
        """The place of a request that is asked now."""
        with self._lock:
            self._places += 1
            return self._places

    def take(self, place: int, asked: Asked, heard: Heard) -> None:
        """Keep an exchange at its place, if it is a call to a model."""
        if asked.is_for_a_model:
            with self._lock:
                self._taken[place] = asked, heard

    def write(self, path: Path) -> None:
        """Write what was taken so far.

        Raises InputError when there is nothing, when it cannot be written, and when something in
        it still looks like a secret; the old file is then as it was.
        """
        with self._lock:
            taken = [self._taken[place] for place in sorted(self._taken)]
        if not taken:
            what = "no call to a model was recorded: does the agent use the base URL of its brief?"
            raise InputError(what, str(path))
        exchanges = [kept(asked, heard) for asked, heard in taken]
        refuse(suspects(_parts(exchanges), self._secrets), self._allowed, str(path))
        write_atomically(path, _serialized(exchanges))


def _serialized(exchanges: Sequence[Kept]) -> bytes:
    from vcr.serialize import serialize  # type: ignore[import-untyped]
    from vcr.serializers import yamlserializer  # type: ignore[import-untyped]

    cassette: dict[str, Any] = {
        "requests": [exchange.request for exchange in exchanges],
        "responses": [exchange.response for exchange in exchanges],
        "metadata": to_metadata(exchange.timing for exchange in exchanges),
    }
    text = serialize(cassette, yamlserializer)
    assert isinstance(text, str)
    return text.encode()


def _parts(exchanges: Iterable[Kept]) -> Iterator[tuple[int, str, str]]:
    """The texts that will stand in the file, by exchange and name."""
    for number, exchange in enumerate(exchanges, start=1):
        request, response = exchange.request, exchange.response
        yield number, "URL", request.uri
        yield number, "request's headers", _lines(dict(request.headers))
        yield number, "request's body", (request.body or b"").decode("utf-8", "replace")
        yield number, "answer's headers", _lines(response["headers"])
        yield number, "answer's body", response["body"]["string"].decode("utf-8", "replace")


def _lines(headers: dict[str, Any]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in headers.items())
