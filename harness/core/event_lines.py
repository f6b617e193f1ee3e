"""An event as a line of a history file, and back.

What JSON cannot say (half of a surrogate pair, which agents do store and send) stands in a line as
its escape, so that any program can read the file.
"""

from __future__ import annotations

import msgspec

from harness.core.events import SCHEMA_VERSION, AnyEvent, Started
from harness.core.messages import printable

_encoder = msgspec.json.Encoder(order="deterministic")
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def encode_event(event: AnyEvent) -> bytes:
    """An event as its line, without the line's end."""
    try:
        return _encoder.encode(event)
    except UnicodeEncodeError:
        return _encoder.encode(_decoder.decode(_encoder.encode(printable(event))))


def decode_event(line: bytes) -> AnyEvent:
    """The event of a line. Raises msgspec.DecodeError or ValidationError for what is none."""
    return _decoder.decode(line)


def decode_line(line: bytes, number: int) -> AnyEvent:
    """The event of a line of a file; errors begin with `line N: `.

    Raises msgspec.DecodeError or ValidationError for a line that is no event, or of a version that
    is not ours.
    """
    try:
        event = _decoder.decode(line)
    except msgspec.ValidationError as error:
        raise msgspec.ValidationError(f"line {number}: {error}") from None
    except msgspec.DecodeError as error:
        raise msgspec.DecodeError(f"line {number}: {error}") from None
    if isinstance(event, Started) and event.v != SCHEMA_VERSION:
        what = f"a history of version {event.v}; this loop-harness reads version {SCHEMA_VERSION}"
        raise msgspec.ValidationError(f"line {number}: {what}: use the one that wrote it")
    return event
