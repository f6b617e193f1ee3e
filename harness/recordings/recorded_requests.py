"""The requests of one file: of one that goes on from the last, only what is new is read.

Each call of an agent loop repeats the history. Read whole, a cassette would cost the square of its
session. Messages that stood in the last request are the same objects in the next one.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.core.values.messages import Message
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import Unreadable
from harness.providers.shared.json_fields import RecordedApi, RecordedRequest
from harness.providers.shared.request_memory import LastRequest, NewMessages
from harness.recordings.transcripts import encodable


class RecordedRequests:
    """Reads the requests of one file, in order."""

    def __init__(self) -> None:
        self._lanes: dict[str, _Lane] = {}

    def read(self, api: RecordedApi, body: bytes) -> RecordedRequest:
        """A request; raises Unreadable for a body that is not of this API."""
        if not api.apart:
            return _whole(api, body)
        return self._lanes.setdefault(api.name, _Lane(api)).read(body) or _whole(api, body)


def _whole(api: RecordedApi, body: bytes) -> RecordedRequest:
    value = f.parse(body)
    if not isinstance(value, dict):
        raise Unreadable("not a JSON object")
    asked = api.request(value)
    if asked is None:
        raise Unreadable("no list of messages")
    return msgspec.structs.replace(asked, messages=encodable(asked.messages))


class _Lane:
    """The last request of an API."""

    def __init__(self, api: RecordedApi) -> None:
        self._api, self._last = api, LastRequest(api.field)
        self._messages: list[Message] = []
        self._frame: RecordedRequest | None = None

    def read(self, body: bytes) -> RecordedRequest | None:
        """A request; None for one that must be read whole, after which nothing is remembered."""
        try:
            found = self._last.find(body)
            new = [*self._new(found)]
            if found.fields is not None:
                self._frame = self._api.request(self._fields(found.fields))
        except (ValueError, RecursionError):
            found, new = None, []
        if found is None or found.raws is None or len(new) != len(found.raws):
            self._last.forget()
            return None
        self._messages[found.keep :] = encodable(tuple(new))
        assert self._frame is not None, "the list of messages is there"
        return msgspec.structs.replace(self._frame, messages=tuple(self._messages))

    def _new(self, found: NewMessages) -> Iterator[Message]:
        """The new messages; none for an entry that is not a message, or several."""
        for value in found.values:
            made = [*self._api.messages([value])] if isinstance(value, dict) else []
            if len(made) == 1:
                yield made[0]

    def _fields(self, raws: dict[str, bytes]) -> dict[str, object]:
        return {**{name: f.parse(raw) for name, raw in raws.items()}, self._api.field: []}
