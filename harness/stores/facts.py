"""The lines of a JSON Lines session: each is a fact, tagged with what it says."""

from __future__ import annotations

import msgspec

from harness.core.calls import Inbound
from harness.core.messages import Message


class RowFact(msgspec.Struct, frozen=True, tag="row", tag_field="fact", omit_defaults=True):
    """A row. `accepted` makes it an inbound message; `reply_to` makes it that message's reply."""

    session: str
    message: Message
    inbound: str = ""
    accepted: Inbound | None = None
    reply_to: str = ""
    status: str = ""
    kind: str = ""


class Begun(msgspec.Struct, frozen=True, tag="begun", tag_field="fact"):
    """The turn of an inbound message begins again."""

    session: str
    inbound: str


class Delivered(msgspec.Struct, frozen=True, tag="delivered", tag_field="fact"):
    """The reply to an inbound message has left."""

    session: str
    inbound: str


class Summarised(msgspec.Struct, frozen=True, tag="summary", tag_field="fact"):
    """The history begins with this message, and the row `first`, from now on."""

    session: str
    message: Message
    first: str


Fact = RowFact | Begun | Delivered | Summarised
_decode_fact = msgspec.json.Decoder[Fact](Fact).decode
_decode_message = msgspec.json.Decoder(Message).decode


def decode(line: bytes) -> Fact:
    """A line as a fact. A bare message, as the first version wrote it, is a row of `main`.

    Raises msgspec.DecodeError or msgspec.ValidationError for a line that is neither.
    """
    if b'"fact"' not in line:
        return RowFact("main", _decode_message(line))
    fact: Fact = _decode_fact(line)
    return fact
