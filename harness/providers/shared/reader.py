"""The reader of an API whose requests list messages: bytes to a `Reading`, at the cost of what is
new in them.

A reader serves one session. It remembers the last request, what its fields say, and what the
validator found in it, and nothing before. What it answers never depends on that memory, except for
`keep`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

from harness.core.transition.ports import Reading, Violation
from harness.core.values.messages import Json, Message
from harness.providers.shared.codec import decode, tokens
from harness.providers.shared.fields import FieldMemory, RequestFields
from harness.providers.shared.fold import Fold, FoldState
from harness.providers.shared.request_memory import LastRequest, NewMessages
from harness.providers.shared.rules import RuleTable

Said = TypeVar("Said", bound=RequestFields)
State = TypeVar("State", bound=FoldState)
Entry = TypeVar("Entry")
AnyReading = TypeVar("AnyReading", bound=Reading)


class Malformed(ValueError):
    """A message that is none: `path` below the list, what stands there and what was wanted."""

    def __init__(
        self, path: str, value: Json = None, wanted: str = "", *, missing: bool = False
    ) -> None:
        super().__init__(path)
        self.path, self.value, self.wanted, self.missing = path, value, wanted, missing


class MessageReader(Generic[Said, State, AnyReading]):
    """Reads the requests of one session, in order.

    A provider brings the fold of its rules and its fields, and fills in what is its own: `_extend`
    folds new messages, `_ending` is what the request breaks as a whole, `_own` are the fields of
    its kind of reading, `_malformed` and `_unreadable` say what is wrong with a message and with a
    body that is none.
    """

    kind: type[AnyReading]
    place, listed = "messages[{}]", "an array of objects"

    def __init__(
        self,
        rules: RuleTable,
        fold: Fold[State],
        fields: FieldMemory[Said],
        window_tokens: int | None,
    ) -> None:
        self._rules, self._window_tokens = rules, window_tokens
        self._fold, self._fields = fold, fields
        self._last = LastRequest()
        self._messages: tuple[Message, ...] = ()

    def read(self, body: bytes) -> AnyReading:
        """A request's bytes as values. What is no request at all comes back as a violation."""
        try:
            found = self._last.find(body)
            if found.fields is not None:
                self._fields.take(found.fields)
            return self._take(found)
        except Malformed as error:
            return self._refused(*self._fields.said.violations, self._malformed(error))
        except (ValueError, RecursionError) as error:
            broken = self._unreadable(body, error)
        self._fields.take({})
        return self._refused(broken)

    def _take(self, found: NewMessages) -> AnyReading:
        keep = found.keep
        self._fold.rewind(keep)
        added = self._extend(found)
        messages = self._messages if keep == len(self._messages) else self._messages[:keep]
        self._messages = messages + added if added else messages
        self._follow(keep)
        return self._reading(keep, added)

    def _each(self, found: NewMessages, read: Callable[[Json], Entry]) -> list[Entry]:
        """The new messages, read; raises Malformed with the whole path of what is none."""
        if found.raws is None:
            value = decode(found.bad) if found.bad else None
            raise Malformed("messages", value, self.listed, missing=not found.bad)
        done: list[Entry] = []
        try:
            for value in found.values:
                done.append(read(value))
        except Malformed as error:
            path = self.place.format(found.keep + len(done)) + error.path
            raise Malformed(path, error.value, error.wanted, missing=error.missing) from None
        return done

    def _reading(self, keep: int, added: tuple[Message, ...]) -> AnyReading:
        said, state = self._fields.said, self._fold.state
        size = tokens(state.size_bytes + said.size_bytes)
        broken = said.violations + self._ending()
        if self._window_tokens is not None:
            active = self._fold.active
            broken += self._rules.window(size, said.max_tokens, self._window_tokens, active)
        return self.kind(
            model=said.model,
            messages=self._messages,
            keep=keep,
            added=added,
            system=said.system or state.system,
            tools=said.tools,
            tools_offered=said.tools_offered,
            max_tokens=said.max_tokens,
            stream=said.stream,
            tokens=size,
            violations=broken,
            settings=said.settings,
            **self._own(),
        )

    def _refused(self, *found: Violation) -> AnyReading:
        """The reading of what cannot be read as messages; the next one starts afresh."""
        self._last.forget()
        self._messages = ()
        self._fold.rewind(0)
        self._follow(0)
        return msgspec.structs.replace(self._reading(0, ()), violations=found)

    def _follow(self, keep: int) -> None:
        """Called when the messages have changed behind the first `keep`."""

    def _own(self) -> dict[str, Any]:
        return {}

    def _extend(self, found: NewMessages) -> tuple[Message, ...]:
        raise NotImplementedError

    def _ending(self) -> tuple[Violation, ...]:
        raise NotImplementedError

    def _malformed(self, error: Malformed) -> Violation:
        raise NotImplementedError

    def _unreadable(self, body: bytes, error: Exception) -> Violation:
        raise NotImplementedError
