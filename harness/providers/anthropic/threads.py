"""Threads: conversations that the provider keeps, so that a turn sends only what is new.

The stored messages go back into the request's bytes, so that all rules see the whole conversation.
Each answer can be continued once. Threads live as long as their run's reader.
"""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json
from harness.providers.anthropic.record import violation
from harness.providers.shared.codec import encode
from harness.providers.shared.request_memory import NotAnObject, split

CREATE_ONLY = ("system", "tools")
"""Fields that a thread keeps from its first turn."""

UNSUPPORTED = ("context_management", "fallbacks")
"""Fields that do not go with threads."""


class StoredTurn(msgspec.Struct, eq=False):
    """What is stored under the id of an answer; nothing more, once that has been continued."""

    messages: tuple[bytes, ...]
    fields: dict[str, bytes]
    continued: bool = False


class ThreadTurn(msgspec.Struct, frozen=True):
    """A turn of a thread: all its messages as bytes, and the answer that it continues, if any.

    `stored` are the threads of the session, by the ids of their answers.
    """

    stored: dict[str, StoredTurn]
    messages: tuple[bytes, ...]
    fields: dict[str, bytes]
    previous: StoredTurn | None = None

    def keep(self, id_: str, content: Json) -> None:
        """Store the answer; the one before it is continued now."""
        if self.previous is not None:
            self.previous.continued, self.previous.messages = True, ()
        answer = encode({"role": "assistant", "content": content})
        self.stored[id_] = StoredTurn((*self.messages, answer), self.fields)


class Continued(msgspec.Struct, frozen=True):
    """A request that continues a thread, with the stored part put back.

    `thread` is the field as it was sent; `bare`: the request adds no message.
    """

    body: bytes
    thread: Json
    previous: StoredTurn
    bare: bool


def continued(stored: dict[str, StoredTurn], body: bytes) -> Continued | Violation | None:
    """The whole request for one that continues a thread; None for any other."""
    try:
        layout = split(body)
        fields = {**layout.head, **layout.rest}
        thread = msgspec.json.decode(fields.pop("thread", b"null"))
    except (NotAnObject, ValueError, RecursionError):
        return None
    if not (isinstance(thread, dict) and thread.get("type") == "continue"):
        return None
    id_ = thread.get("previous_message_id")
    kept = stored.get(id_) if isinstance(id_, str) else None
    if kept is None or layout.messages is None:
        return violation("thread_not_found", id=id_)
    if kept.continued:
        return violation("thread_already_continued", id=id_)
    differ = [n for n in CREATE_ONLY if n in fields and not _same(fields[n], kept.fields.get(n))]
    if differ:
        names = " and ".join(f"`{name}`" for name in differ)
        return violation("thread_fingerprint_mismatch", names=names)
    parts = {**kept.fields, **fields}
    whole = _body((*kept.messages, *layout.messages), parts)
    return Continued(whole, thread, kept, bare=not layout.messages)


def _same(one: bytes, other: bytes | None) -> bool:
    return other is not None and bool(msgspec.json.decode(one) == msgspec.json.decode(other))


def _body(messages: tuple[bytes, ...], fields: dict[str, bytes]) -> bytes:
    """The messages come first, so that one turn begins as the last one did."""
    named = b"".join(b",%b:%b" % (encode(name), raw) for name, raw in fields.items())
    return b'{"messages":[%b]%b}' % (b",".join(messages), named)
