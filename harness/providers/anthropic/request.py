"""A request of this API as a reading, with what its answer needs to know of it.

An answer is made from a script's value, which knows neither signatures nor threads. What the
provider adds of its own follows from the request: thinking and summaries are signed, a request for
a summary is answered by one, and an answer on a thread is kept for the next turn. A reading is
answered before its reader reads the next request.

MERGED: Requests: bytes to a `Reading`, at the cost of what is new in them.

A reader serves one session. It remembers the last request, and what the validator found in it, and
nothing before. What it answers never depends on that memory, except for `keep`.
"""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Reading, Violation
from harness.core.values.messages import Block, Json, Message, Text, Thinking, ToolResult, ToolUse
from harness.core.values.plans import Reply
from harness.providers.anthropic import compaction
from harness.providers.anthropic.blocks import BlockNotes, Malformed, message_from, notes
from harness.providers.anthropic.fields import Fields
from harness.providers.anthropic.rules import TABLE, violation
from harness.providers.anthropic.thinking import Bindings, dropped, judged, unthinking
from harness.providers.anthropic.threads import (
    CREATE_ONLY,
    UNSUPPORTED,
    Continued,
    Threads,
    ThreadTurn,
)
from harness.providers.anthropic.validator import Fold
from harness.providers.shared.codec import reason, tokens
from harness.providers.shared.request_memory import Found, LastRequest, NotAnObject

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
        place, blocks = 0, list[Block]()
        for block in reply.blocks:
            if isinstance(block, Thinking):
                blocks.append(self._signed(block, place))
                place += 1
            else:
                blocks.append(compaction.signed(block))
        return msgspec.structs.replace(reply, blocks=tuple(blocks))

    def _signed(self, block: Thinking, place: int) -> Thinking:
        if _is_whole(block) or self.bindings is None:
            return block
        return self.bindings.sign(block, place)

    def transformations(self) -> list[Json]:
        """What the provider left out of the request: thinking that was dropped."""
        if self.bindings is None or not self.bindings.flaws:
            return []
        return dropped(self.bindings, self.settings, self.model)


def _is_whole(block: Block) -> bool:
    """Whether the provider has nothing to add to a block."""
    if isinstance(block, Thinking):
        return bool(block.signature or block.redacted)
    return compaction.signed(block) is block


class AnthropicReader:
    """Reads the requests of one session, in order."""

    def __init__(self, dialect: str, window_tokens: int | None) -> None:
        self._window_tokens = window_tokens
        self._fold = Fold(dialect)
        self._fields = Fields(self._fold.active)
        self._bindings = Bindings()
        self._threads: Threads | None = None
        self._last = LastRequest()
        self._messages: tuple[Message, ...] = ()

    def read(self, body: bytes) -> AnthropicReading:
        """A request's bytes as values. What is no request at all comes back as a violation."""
        if self._threads is not None and b'"previous_message_id"' in body:
            return self._continued(body, self._threads.continued(body))
        reading = self._read(body)
        return reading if reading.settings.get("thread") is None else self._threaded(reading)

    def _read(self, body: bytes) -> AnthropicReading:
        try:
            found = self._last.find(body)
            if found.fields is not None:
                self._fields.take(found.fields)
            return self._take(found)
        except Malformed as error:
            return self._refused(*self._fields.said.violations, _malformed(error))
        except NotAnObject:
            broken = violation("V35", path="body", wanted="a valid dictionary")
        except (ValueError, RecursionError):
            broken = violation("V28", reason=reason(body))
        self._fields.take({})
        return self._refused(broken)

    def _threaded(self, reading: AnthropicReading) -> AnthropicReading:
        """The reading of a request with the field `thread` that continues none of ours."""
        fields = self._fields.raws()
        thread = reading.settings["thread"]
        barred = [name for name in UNSUPPORTED if fields.get(name, b"null") != b"null"]
        if barred or "thread_unsupported_request" in self._fold.active:
            found = violation("thread_unsupported_request")
        elif isinstance(thread, dict) and thread.get("type") == "create":
            self._threads = self._threads or Threads()
            kept = {name: fields[name] for name in CREATE_ONLY if name in fields}
            turn = ThreadTurn(self._threads, self._last.raws, kept)
            return msgspec.structs.replace(reading, turn=turn)
        else:
            id_ = thread.get("previous_message_id") if isinstance(thread, dict) else None
            found = violation("thread_not_found", id=id_)
        return msgspec.structs.replace(reading, violations=(found,))

    def _continued(self, body: bytes, whole: Continued | Violation | None) -> AnthropicReading:
        """The reading of a request that continues a thread, as the whole conversation."""
        if whole is None:
            return self._read(body)
        if isinstance(whole, Violation):
            return msgspec.structs.replace(self._read(body), violations=(whole,))
        assert self._threads is not None
        reading = self._read(whole.body)
        turn = ThreadTurn(self._threads, self._last.raws, whole.previous.fields, whole.previous)
        found = reading.violations
        if whole.bare:
            found = tuple(v for v in found if v.rule not in ("V13", "V14"))
        settings = {**reading.settings, "thread": whole.thread}
        return msgspec.structs.replace(reading, turn=turn, violations=found, settings=settings)

    def _take(self, found: Found) -> AnthropicReading:
        keep, (added, noted) = found.keep, _messages(found)
        self._fold.rewind(keep)
        self._fold.extend(added, noted)
        messages = self._messages if keep == len(self._messages) else self._messages[:keep]
        self._messages = messages + added if added else messages
        self._bindings.follow(self._messages, keep, self._fields.said)
        return self._reading(keep, added)

    def _reading(self, keep: int, added: tuple[Message, ...]) -> AnthropicReading:
        said, last = self._fields.said, self._messages[-1] if self._messages else None
        size = tokens(self._fold.size_bytes + said.size_bytes)
        active = self._fold.active
        found = said.violations + self._fold.finish(last, said)
        if self._bindings.flaws:
            found += judged(self._bindings, said.settings, said.model, active)
        if "thinking" in said.settings and "V18" in active:
            found += tuple(unthinking(self._messages, said.settings))
        if self._window_tokens is not None:
            found += TABLE.window(size, said.max_tokens, self._window_tokens, self._fold.active)
        return AnthropicReading(
            model=said.model,
            messages=self._messages,
            keep=keep,
            added=added,
            system=said.system,
            tools=said.tools,
            tools_offered=said.tools_offered,
            max_tokens=said.max_tokens,
            stream=said.stream,
            tokens=size,
            violations=found,
            settings=said.settings,
            purpose="compact" if said.compacts else "",
            bindings=self._bindings,
        )

    def _refused(self, *found: Violation) -> AnthropicReading:
        """The reading of what cannot be read as messages; the next one starts afresh."""
        self._last.forget()
        self._messages = ()
        self._fold.rewind(0)
        self._bindings.follow((), 0, self._fields.said)
        return msgspec.structs.replace(self._reading(0, ()), violations=found)


def _messages(found: Found) -> tuple[tuple[Message, ...], list[BlockNotes | None]]:
    """The new messages; raises Malformed with the whole path of what is none."""
    if found.raws is None:
        raise Malformed("messages", not found.bad, "a valid list")
    read: list[Message] = []
    noted: list[BlockNotes | None] = []
    try:
        for value in found.values:
            read.append(message_from(value))
            noted.append(notes(value) if type(value["content"]) is list else None)
    except Malformed as error:
        path = f"messages.{found.keep + len(read)}{error.path}"
        raise Malformed(path, error.missing, error.wanted) from None
    return tuple(read), noted


def _malformed(error: Malformed) -> Violation:
    if error.missing:
        return violation("V32", path=error.path)
    return violation("V35", path=error.path, wanted=error.wanted)
