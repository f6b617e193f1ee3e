"""Requests: bytes to a `Reading`, at the cost of what is new in them.

A reader serves one session. It remembers the last request, what its fields say, and what the
validator found, and nothing before.
"""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Reading, Violation
from harness.core.values.messages import Message
from harness.providers.openai_chat.blocks import Malformed, message_from
from harness.providers.openai_chat.fields import Fields
from harness.providers.openai_chat.rules import TABLE, violation
from harness.providers.openai_chat.validator import Fold
from harness.providers.shared.codec import tokens
from harness.providers.shared.openai import type_name
from harness.providers.shared.request_memory import Found, LastRequest

_decode = msgspec.json.Decoder().decode


class OpenAIChatReader:
    """Reads the requests of one session, in order."""

    def __init__(self, dialect: str, window_tokens: int | None) -> None:
        self._window_tokens = window_tokens
        self._fold = Fold(dialect)
        self._fields = Fields()
        self._last = LastRequest()
        self._messages: tuple[Message, ...] = ()

    def read(self, body: bytes) -> Reading:
        """A request's bytes as values. What is no request at all comes back as a violation."""
        try:
            found = self._last.find(body)
            if found.fields is not None:
                self._fields.take(found.fields)
            return self._take(found)
        except Malformed as error:
            return self._refused(*self._said(), _malformed(error))
        except (ValueError, RecursionError):
            self._fields.take({})
            return self._refused(violation("C10"))

    def _take(self, found: Found) -> Reading:
        keep, added = found.keep, _messages(found)
        self._fold.rewind(keep)
        self._fold.extend(added)
        messages = self._messages if keep == len(self._messages) else self._messages[:keep]
        self._messages = messages + added if added else messages
        return self._reading(keep, added)

    def _said(self) -> tuple[Violation, ...]:
        active = self._fold.active
        return tuple([v for v in self._fields.said.violations if v.rule in active])

    def _reading(self, keep: int, added: tuple[Message, ...]) -> Reading:
        said, state = self._fields.said, self._fold.state
        size = tokens(state.size_bytes + said.size_bytes)
        broken = (self._said() if said.violations else ()) + self._fold.finish()
        if self._window_tokens is not None:
            broken += TABLE.window(size, said.max_tokens, self._window_tokens, self._fold.active)
        return Reading(
            model=said.model,
            messages=self._messages,
            keep=keep,
            added=added,
            system=state.system,
            tools=said.tools,
            tools_offered=said.tools_offered,
            max_tokens=said.max_tokens,
            stream=said.stream,
            tokens=size,
            violations=broken,
            settings=said.settings,
        )

    def _refused(self, *found: Violation) -> Reading:
        """The reading of what cannot be read as messages; the next one starts afresh."""
        self._last.forget()
        self._fold.rewind(0)
        self._messages = ()
        return msgspec.structs.replace(self._reading(0, ()), violations=found)


def _messages(found: Found) -> tuple[Message, ...]:
    """The new messages; raises Malformed with the whole path of what is none."""
    if found.raws is None:
        value = _decode(found.bad) if found.bad else None
        raise Malformed("messages", value, "an array of objects", missing=not found.bad)
    read: list[Message] = []
    for value in found.values:
        try:
            read.append(message_from(value))
        except Malformed as error:
            path = f"messages[{found.keep + len(read)}]{error.path}"
            raise Malformed(path, error.value, error.wanted, missing=error.missing) from None
    return tuple(read)


def _malformed(error: Malformed) -> Violation:
    if error.missing:
        return violation("C12", path=error.path)
    got = type_name(error.value)
    return violation("C11", path=error.path, wanted=error.wanted, got=got)
