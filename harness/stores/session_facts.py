"""The lines of a JSON Lines session, each a tagged fact; the stores under fault use the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable

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


def storable(inbound: Inbound) -> Inbound:
    """An inbound message as UTF-8 can hold it: the inbox may hand out half a character, which a
    channel decodes from broken bytes. Rows are the agent's own, and such a row is refused."""
    text = inbound.text.encode("utf-8", "replace").decode()
    return inbound if text == inbound.text else msgspec.structs.replace(inbound, text=text)


def _seed(session: str, messages: Iterable[Message]) -> tuple[Fact, ...]:
    return tuple(RowFact(session, message) for message in messages)


def _accept(inbound: Inbound, message: Message) -> tuple[Fact, ...]:
    return (RowFact(inbound.session, message, inbound.id, accepted=storable(inbound)),)


def _append(session: str, message: Message, inbound: str = "") -> tuple[Fact, ...]:
    return (RowFact(session, message, inbound),)


def _begin(inbound: Inbound) -> tuple[Fact, ...]:
    return (BeginFact(inbound.session, inbound.id),)


def _reply(inbound: Inbound, message: Message, status: str, kind: str) -> tuple[Fact, ...]:
    return (RowFact(inbound.session, message, reply_to=inbound.id, status=status, kind=kind),)


def _delivered(inbound: Inbound) -> tuple[Fact, ...]:
    return (DeliveryFact(inbound.session, inbound.id),)


def _summarise(session: str, summary: Message, first: str) -> tuple[Fact, ...]:
    return (SummaryFact(session, summary, first),)


facts_of: dict[str, Callable[..., tuple[Fact, ...]]] = {
    "seed": _seed,
    "accept": _accept,
    "append": _append,
    "begin": _begin,
    "reply": _reply,
    "delivered": _delivered,
    "summarise": _summarise,
}
"""The facts that a write of a session store says, by the method's name, from its arguments."""
