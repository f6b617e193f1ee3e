"""Requests: bytes to a `Reading`, at the cost of what is new in them.

A reader serves one session. It remembers the last request (its bytes up to the last message,
where each message ends, and what the validator found) and nothing before. What it answers never
depends on that memory, except for `keep`.
"""

from __future__ import annotations

import msgspec

from harness.core.messages import Message
from harness.core.ports import Reading, Violation
from harness.wires.anthropic.blocks import Malformed, message_from
from harness.wires.anthropic.fields import Fields
from harness.wires.anthropic.fold import Fold
from harness.wires.anthropic.layout import Layout, NotAnObject, resume, shared, split
from harness.wires.anthropic.rules import violation
from harness.wires.anthropic.tokens import tokens
from harness.wires.anthropic.unreadable import reason
from harness.wires.anthropic.validator import window


class AnthropicReader:
    """Reads the requests of one session, in order."""

    def __init__(self, dialect: str, window_tokens: int | None) -> None:
        self._window_tokens = window_tokens
        self._fold = Fold(dialect)
        self._fields = Fields()
        self._forget()

    def read(self, body: bytes) -> Reading:
        """A request's bytes as values. What is no request at all comes back as a violation."""
        try:
            keep, new = self._locate(body)
            self._fields.take({**new.head, **new.rest})
            return self._take(body, keep, new)
        except Malformed as error:
            return self._refused(*self._fields.violations(), _malformed(error))
        except NotAnObject:
            found = violation("V35", path="body", wanted="a valid dictionary")
        except (ValueError, RecursionError):
            found = violation("V28", reason=reason(body))
        self._fields.take({})
        return self._refused(found)

    def _forget(self) -> None:
        self._prefix = b""
        self._ends: list[int] = []
        self._raws: list[bytes] = []
        self._head: dict[str, bytes] = {}
        self._messages: tuple[Message, ...] = ()
        self._fold.rewind(0)

    def _locate(self, body: bytes) -> tuple[int, Layout]:
        """How many messages are the last request's, and the layout with the others.

        Notes where all messages end; what fails after this forgets everything.
        """
        keep = shared(body, self._prefix, self._ends) if self._ends else 0
        if keep:
            rest = resume(body, self._ends[keep - 1])
            if rest is not None:
                self._ends[keep:] = rest.ends or ()
                return keep, msgspec.structs.replace(rest, head=self._head)
        whole = split(body)
        self._ends = list(whole.ends or ())
        if whole.messages is None:
            return 0, whole
        keep = _same(self._raws, whole.messages)
        return keep, msgspec.structs.replace(whole, messages=whole.messages[keep:])

    def _take(self, body: bytes, keep: int, new: Layout) -> Reading:
        if new.messages is None:
            raise Malformed("messages", not new.bad, "a valid list")
        added = tuple(_message(keep + n, raw) for n, raw in enumerate(new.messages))
        self._fold.rewind(keep)
        self._fold.extend(added)
        messages = self._messages if keep == len(self._messages) else self._messages[:keep]
        self._messages = messages + added if added else messages
        self._raws[keep:] = new.messages
        self._head = new.head
        self._prefix = body[: self._ends[-1]] if self._ends else b""
        return self._reading(keep, added)

    def _reading(self, keep: int, added: tuple[Message, ...]) -> Reading:
        fields, last = self._fields, self._messages[-1] if self._messages else None
        size = tokens(self._fold.size_bytes + fields.size_bytes)
        found = [*fields.violations(), *self._fold.finish(last)]
        if self._window_tokens is not None:
            most = fields.value("max_tokens", None)
            found += window(size, most, self._window_tokens, self._fold.active)
        return Reading(
            model=fields.value("model", ""),
            messages=self._messages,
            keep=keep,
            added=added,
            system=fields.value("system", ""),
            tools=fields.value("tools", ()),
            tools_offered=fields.tools_offered,
            max_tokens=fields.value("max_tokens", None),
            stream=fields.value("stream", False),
            tokens=size,
            violations=tuple(found),
        )

    def _refused(self, *found: Violation) -> Reading:
        """The reading of what cannot be read as messages; the next one starts afresh."""
        self._forget()
        return msgspec.structs.replace(self._reading(0, ()), violations=found)


def _same(old: list[bytes], new: tuple[bytes, ...]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(old), len(new)))


def _message(index: int, raw: bytes) -> Message:
    try:
        return message_from(msgspec.json.decode(raw))
    except Malformed as error:
        path = f"messages.{index}{error.path}"
        raise Malformed(path, error.missing, error.wanted) from None


def _malformed(error: Malformed) -> Violation:
    if error.missing:
        return violation("V32", path=error.path)
    return violation("V35", path=error.path, wanted=error.wanted)
