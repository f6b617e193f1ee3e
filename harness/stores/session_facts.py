"""The lines of a JSON Lines session, each a tagged fact; the stores under fault use the same."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, builtin


class RowFact(msgspec.Struct, frozen=True, tag="row", tag_field="fact", omit_defaults=True):
    """A row. `accepted` makes it an inbound message; `reply_to` makes it that message's reply."""

    session: str
    message: Message
    inbound: str = ""
    accepted: Inbound | None = None
    reply_to: str = ""
    status: str = ""
    kind: str = ""


class BeginFact(msgspec.Struct, frozen=True, tag="begun", tag_field="fact"):
    """The turn of an inbound message begins again."""

    session: str
    inbound: str


class DeliveryFact(msgspec.Struct, frozen=True, tag="delivered", tag_field="fact"):
    """The reply to an inbound message has left."""

    session: str
    inbound: str


class SummaryFact(msgspec.Struct, frozen=True, tag="summary", tag_field="fact"):
    """The history begins with this message, and the row `first`, from now on."""

    session: str
    message: Message
    first: str


Fact = RowFact | BeginFact | DeliveryFact | SummaryFact
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


def encode(fact: Fact) -> bytes:
    """A fact as a line."""
    return msgspec.json.encode(fact, enc_hook=builtin) + b"\n"


facts_of: dict[str, Callable[..., tuple[Fact, ...]]] = {
    "seed": lambda session, messages: tuple(RowFact(session, one) for one in messages),
    "accept": lambda inbound, message: (
        RowFact(inbound.session, message, inbound.id, accepted=inbound),
    ),
    "append": lambda session, message, inbound="": (RowFact(session, message, inbound),),
    "begin": lambda inbound: (BeginFact(inbound.session, inbound.id),),
    "reply": lambda inbound, message, status, kind: (
        RowFact(inbound.session, message, reply_to=inbound.id, status=status, kind=kind),
    ),
    "delivered": lambda inbound: (DeliveryFact(inbound.session, inbound.id),),
    "summarise": lambda session, summary, first: (SummaryFact(session, summary, first),),
}
"""The facts that a write of a session store says, by the method's name, from its arguments."""
