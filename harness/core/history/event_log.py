"""In-memory storage of a history's events, and the JSON line of an event.

The runner has another log that keeps the older part of a long run on disk. JSON cannot hold a lone
surrogate, which agents do send. The line has its escape, so that any program can read the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeVar, overload

import msgspec

from harness.core.history.events import SCHEMA_VERSION, AnyEvent, RunSettings, Started
from harness.core.values.messages import Json, Message, builtin, printable

_Value = TypeVar("_Value")


class Events(Protocol):
    """Events in order, for example a list."""

    def append(self, event: AnyEvent, /) -> None:
        """Add an event at the end."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[AnyEvent]: ...

    def __reversed__(self) -> Iterator[AnyEvent]: ...

    @overload
    def __getitem__(self, index: int, /) -> AnyEvent: ...

    @overload
    def __getitem__(self, index: slice, /) -> list[AnyEvent]: ...


class Named(Protocol[_Value]):
    """Values by their digest, for example a dict."""

    def __contains__(self, digest: object, /) -> bool: ...

    def __getitem__(self, digest: str, /) -> _Value: ...

    def __setitem__(self, digest: str, value: _Value, /) -> None: ...

    @overload
    def get(self, digest: str, /) -> _Value | None: ...

    @overload
    def get(self, digest: str, default: _Value, /) -> _Value: ...


class EventLog(Protocol):
    """The events of one run and the values they name."""

    @property
    def events(self) -> Events:
        """All events, in order."""

    @property
    def messages(self) -> Named[Message]:
        """The messages by digest."""

    @property
    def values(self) -> Named[Json]:
        """The other values by digest."""


class InMemory:
    """A log that keeps everything in memory."""

    def __init__(self) -> None:
        self.events: list[AnyEvent] = []
        self.messages: dict[str, Message] = {}
        self.values: dict[str, Json] = {}


_encoder = msgspec.json.Encoder(order="deterministic", enc_hook=builtin)
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def encode_event(event: AnyEvent) -> bytes:
    """An event as its line, without the line's end."""
    try:
        return _encoder.encode(event)
    except UnicodeEncodeError:
        return _encoder.encode(_decoder.decode(_encoder.encode(printable(event))))


def decode_event(line: bytes) -> AnyEvent:
    """The event of a line. Raises msgspec.DecodeError or ValidationError for an invalid line."""
    return _decoder.decode(line)


def decode_line(line: bytes, number: int) -> AnyEvent:
    """The event of a line of a file.

    Raises BadLine for a line that is not an event, or of a version that this loop-harness does not
    read.
    """
    try:
        event = _decoder.decode(line)
        if isinstance(event, Started):
            msgspec.convert(event.settings, RunSettings)
    except msgspec.DecodeError as error:
        raise BadLine(number, str(error)) from None
    if isinstance(event, Started) and event.v != SCHEMA_VERSION:
        what = f"a history of version {event.v}; this loop-harness reads version {SCHEMA_VERSION}"
        raise BadLine(number, f"{what}: use the one that wrote it")
    return event


class BadLine(msgspec.ValidationError):
    """A line of a history that is not an event: its number and what is wrong with it."""

    def __init__(self, number: int, what: str) -> None:
        self.number, self.what = number, what
        super().__init__(f"line {number}: {what}")
