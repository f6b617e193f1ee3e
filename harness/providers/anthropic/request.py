"""Requests of this API, and what their answers need to know of them.

A script's value has no signatures and no threads, so the reading adds them to the answer. A reading
is answered before its reader reads the next request.

Threads: conversations that the provider keeps, so that a turn sends only what is new.

The stored messages go back into the request's bytes, so that all rules see the whole conversation.
Each answer can be continued once. Threads live as long as their run's reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import msgspec

from harness.core.transition.ports import IssuedThinking, Reading, Violation
from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from harness.core.values.plans import Reply
from harness.providers.anthropic import compaction
from harness.providers.anthropic.blocks import BlockNotes, message_from, notes
from harness.providers.anthropic.fields import AnthropicFields, field_memory
from harness.providers.anthropic.record import TABLE, violation
from harness.providers.anthropic.thinking import Bindings, dropped, judged, unthinking
from harness.providers.anthropic.validator import AnthropicFold
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import encode, reason
from harness.providers.shared.reader import ListForm, Malformed, MessageReader
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


_PLAIN: frozenset[type[Block]] = frozenset({Text, ToolUse, ToolResult})
"""Blocks that a provider never adds to; nearly every reply has no others."""


class AnthropicReading(Reading, frozen=True, gc=False):
    """A reading with its reader's memory of thinking, and the thread that it is a turn of."""

    bindings: Bindings | None = None
    turn: ThreadTurn | None = None

    def complete(self, reply: Reply) -> Reply:
        """The reply as the provider gives it: with signatures, or as the summary asked for."""
        if "compaction" not in self.settings and _PLAIN.issuperset(map(type, reply.blocks)):
            return reply
        if self.settings.get("compaction") is not None:
            reply = compaction.summary_of(reply)
        if all(map(_is_whole, reply.blocks)):
            return reply
        blocks = tuple(map(compaction.signed, reply.blocks))
        return self.signed(msgspec.structs.replace(reply, blocks=blocks))

    def signed(self, reply: Reply) -> Reply:
        """The reply with its thinking signed."""
        unsigned = any(isinstance(b, Thinking) and not _is_whole(b) for b in reply.blocks)
        if self.bindings is None or not unsigned:
            return reply
        thoughts, blocks = list[Thinking](), list[Block]()
        for block in reply.blocks:
            if isinstance(block, Thinking):
                block = block if _is_whole(block) else self.bindings.sign(block, thoughts)
                thoughts.append(block)
            blocks.append(block)
        return msgspec.structs.replace(reply, blocks=tuple(blocks))

    def transformations(self) -> list[Json]:
        """What the provider left out of the request: thinking that was dropped."""
        if self.bindings is None or not self.bindings.flaws:
            return []
        return dropped(self.bindings, self.settings, self.model)


def _is_whole(block: Block) -> bool:
    if isinstance(block, Thinking):
        return bool(block.signature or block.redacted)
    return compaction.signed(block) is block


def _entry(value: Json) -> tuple[Message, BlockNotes | None]:
    message = message_from(value)
    return message, notes(value) if type(value["content"]) is list else None


def _malformed(error: Malformed) -> Violation:
    if error.missing:
        return violation("V32", path=error.path)
    return violation("V35", path=error.path, wanted=error.wanted)


def _unreadable(body: bytes, error: Exception) -> Violation:
    if isinstance(error, NotAnObject):
        return violation("V35", path="body", wanted="a valid dictionary")
    return violation("V28", reason=reason(body))


_FORM = ListForm(_entry, _malformed, _unreadable, place="messages.{}", listed="a valid list")


class AnthropicReader(MessageReader[AnthropicFields, AnthropicReading]):
    """Reads the requests of one session, in order."""

    def __init__(self, dialect: str, window_tokens: int | None = None) -> None:
        fold, self._bindings = AnthropicFold(dialect), Bindings()
        super().__init__(
            _FORM, TABLE, fold, field_memory(fold.active), window_tokens, AnthropicReading,
            fold.extend, partial(_broken, fold, self._bindings), bindings=self._bindings,
        )  # fmt: skip
        self._threads: dict[str, StoredTurn] | None = None

    def expect(self, issued: IssuedThinking) -> None:
        """From now on refuse signatures that are neither our own nor issued."""
        self._bindings.issued = issued

    def kept(self) -> bytes:
        """The threads of the session."""
        return msgspec.msgpack.encode(self._threads) if self._threads else b""

    def keep(self, kept: bytes) -> None:
        """Go on from the threads that another reader of the session stored."""
        self._threads = msgspec.msgpack.decode(kept, type=dict[str, StoredTurn])

    def read(self, body: bytes) -> AnthropicReading:
        """A request's bytes as values. What is not a request at all comes back as a violation."""
        if self._threads is not None and b'"previous_message_id"' in body:
            return self._continued(body, continued(self._threads, body))
        reading = super().read(body)
        return reading if reading.settings.get("thread") is None else self._threaded(reading)

    def _threaded(self, reading: AnthropicReading) -> AnthropicReading:
        fields = self._fields.raws()
        thread = reading.settings["thread"]
        barred = [name for name in UNSUPPORTED if fields.get(name, b"null") != b"null"]
        if barred or "thread_unsupported_request" in self._fold.active:
            found = violation("thread_unsupported_request")
        elif isinstance(thread, dict) and thread.get("type") == "create":
            if self._threads is None:
                self._threads = {}
            kept = {name: fields[name] for name in CREATE_ONLY if name in fields}
            turn = ThreadTurn(self._threads, self._last.raws, kept)
            return msgspec.structs.replace(reading, turn=turn)
        else:
            id_ = thread.get("previous_message_id") if isinstance(thread, dict) else None
            found = violation("thread_not_found", id=id_)
        return msgspec.structs.replace(reading, violations=(found,))

    def _continued(self, body: bytes, whole: Continued | Violation | None) -> AnthropicReading:
        if whole is None:
            return super().read(body)
        if isinstance(whole, Violation):
            return msgspec.structs.replace(super().read(body), violations=(whole,), unread=True)
        assert self._threads is not None
        reading = super().read(whole.body)
        turn = ThreadTurn(self._threads, self._last.raws, whole.previous.fields, whole.previous)
        found = reading.violations
        # The stored thread ends with the model's own answer, which is then no prefill.
        if whole.bare:
            found = tuple(v for v in found if v.rule not in ("V13", "V14"))
        settings = {**reading.settings, "thread": whole.thread}
        return msgspec.structs.replace(reading, turn=turn, violations=found, settings=settings)


def _broken(
    fold: AnthropicFold,
    bindings: Bindings,
    messages: tuple[Message, ...],
    keep: int,
    said: AnthropicFields,
) -> tuple[Violation, ...]:
    """What a list of messages breaks, whose first `keep` are those of the last request."""
    bindings.follow(messages, keep, said)
    found = fold.finish(messages[-1] if messages else None, said)
    if bindings.flaws:
        found += judged(bindings, said.settings, said.model, fold.active)
    if "thinking" in said.settings and "V18" in fold.active:
        found += tuple(unthinking(messages, said.settings))
    return found


def recorded_request(value: dict[str, Json]) -> f.RecordedRequest | None:
    """A request of a recording; what the reader would refuse is read too."""
    if not isinstance(value.get("messages"), list):
        return None
    system = value.get("system")
    texts = (f.text(block.get("text")) for block in f.objects(system))
    return f.RecordedRequest(
        messages=tuple(recorded_messages(f.objects(value["messages"]))),
        system=f.text(system) or f.joined(texts),
        tools=tuple(f.tool(tool, "input_schema") for tool in f.objects(value.get("tools"))),
        model=f.text(value.get("model")),
        max_tokens=f.whole(value.get("max_tokens")),
        stream=value.get("stream") is True,
        stateful=f.mapping(value.get("thread")).get("type") == "continue",
    )


def recorded_messages(values: Iterable[dict[str, Json]]) -> Iterator[Message]:
    """Messages of a recording; one that is malformed is kept whole."""
    for value in values:
        try:
            message = message_from(value)
        except Malformed:
            yield Message(f.text(value.get("role")) or "user", (Opaque("malformed", value),))
        else:
            yield Message(message.role, tuple(map(recorded_block, message.blocks)))


def recorded_block(block: Block) -> Block:
    """A block of a recording; calls and results may lack an id, a call without a name is unread."""
    if not isinstance(block, Opaque) or block.kind not in ("tool_use", "tool_result"):
        return block
    value = block.value
    if block.kind == "tool_result":
        content = f.result_content(value.get("content"), {"text": "text"})
        return ToolResult(
            f.identifier(value.get("tool_use_id")), content, value.get("is_error") is True
        )
    name = f.text(value.get("name"))
    if not name.strip():
        return Opaque(f.UNREAD_CALL, {"reason": "a call has no name", "call": value})
    return ToolUse(f.identifier(value.get("id")), name, value.get("input"))
