"""The reader of requests: bytes to a `Reading`, at the cost of what is new in them.

A reader serves one session. Its answers never depend on the last request, except for `keep`. The
validator is a fold with one immutable state per entry (`Fold`). An extended request costs its new
entries; another one goes back to the last shared state. One map has all call and item ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import msgspec

from harness.core.transition.ports import Reading, Violation
from harness.core.values.calls import Purpose
from harness.core.values.messages import Json, Message, ToolSpec
from harness.providers.shared.codec import decode, tokens
from harness.providers.shared.request_memory import LastRequest, NewMessages
from harness.providers.shared.rules import RuleTable


class Field(msgspec.Struct, frozen=True):
    """A field's bytes, its value, and its part in the size of the prompt.

    `wanted` says what it should have been, "" when it is right; then the value is None. `marks`
    counts cache marks; `found` is what is wrong with the field by itself.
    """

    raw: bytes
    value: Json
    size: int = 0
    wanted: str = ""
    marks: int = 0
    found: tuple[Violation, ...] = ()


class RequestFields(msgspec.Struct, frozen=True, gc=False):
    """What the fields say together: their values, or the default of one missing or wrong.

    `settings` are the fields that have no place of their own (`temperature`, `tool_choice`).
    `tools_offered`: the model may call a tool. `size_bytes` is their part in the size of the
    prompt; `violations` are fields that are missing, wrong, or that do not go together; `purpose`
    is what the request is for, where the API itself has a field that says so.
    """

    model: str = ""
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    tools_offered: bool = False
    max_tokens: int | None = None
    stream: bool = False
    size_bytes: int = 0
    violations: tuple[Violation, ...] = ()
    settings: dict[str, Json] = {}
    purpose: Purpose | Literal[""] = ""


Said = TypeVar("Said", bound=RequestFields)
Fields = Mapping[str, Field]


class FieldMemory(Generic[Said]):
    """The fields of a session's last request; `said` is what they say.

    `read` makes a field of its bytes; `say` says what all of them mean.
    """

    def __init__(self, read: Callable[[str, bytes], Field], say: Callable[[Fields], Said]) -> None:
        self._read, self._say = read, say
        self._fields: dict[str, Field] = {}
        self._raws: Mapping[str, bytes] | None = None
        self.said = say({})

    def take(self, raws: Mapping[str, bytes]) -> None:
        """Take in the fields of a request; raises ValueError when one is not JSON."""
        if raws == self._raws:
            return
        old, self._fields, self._raws = self._fields, {}, None
        self._fields = {
            name: old[name] if name in old and old[name].raw == raw else self._read(name, raw)
            for name, raw in raws.items()
        }
        self.said, self._raws = self._say(self._fields), raws

    def raws(self) -> dict[str, bytes]:
        """The fields of the last request as they were sent."""
        return {name: field.raw for name, field in self._fields.items()}


def value_of(fields: Fields, name: str, default: Json = None) -> Json:
    """The value of a field; the default of one that is missing, wrong or null."""
    field = fields.get(name)
    return default if field is None or field.wanted or field.value is None else field.value


class FoldState(msgspec.Struct, frozen=True, gc=False):
    """What the entries so far leave open, as far as all providers need it.

    `ids` are the names that the last entry uses; `system` is the text of the entries that are the
    system's, where an API has them in the list. `size_bytes` and `violations` are cumulative.
    """

    ids: tuple[str, ...] = ()
    system: str = ""
    size_bytes: int = 0
    violations: tuple[Violation, ...] = ()


State = TypeVar("State", bound=FoldState)


class Fold(Generic[State]):
    """The states of one list by the rules that are `active`.

    `state` is the last of the `states`, `ids` gives the first place of each name.
    """

    def __init__(self, empty: State, active: frozenset[str]) -> None:
        self.active = active
        self._empty = self.state = empty
        self.states: list[State] = []
        self.ids: dict[str, int] = {}

    def push(self, state: State) -> None:
        """Go one entry on, to this state."""
        place = len(self.states)
        self.states.append(state)
        self.state = state
        for id_ in state.ids:
            self.ids.setdefault(id_, place)

    def rewind(self, keep: int) -> None:
        """Forget all but the first `keep` entries."""
        while len(self.states) > keep:
            state = self.states.pop()
            for id_ in state.ids:
                if self.ids.get(id_) == len(self.states):
                    del self.ids[id_]
        self.state = self.states[-1] if self.states else self._empty


AnyReading = TypeVar("AnyReading", bound=Reading)


class Malformed(ValueError):
    """A value that is not a message: `path` below the list, what stands there and what was
    wanted."""

    def __init__(
        self, path: str, value: Json = None, wanted: str = "", *, missing: bool = False
    ) -> None:
        super().__init__(path)
        self.path, self.value, self.wanted, self.missing = path, value, wanted, missing


class ListForm(NamedTuple):
    """How an API lists its messages in a request, and what it says of one that it cannot read.

    `entry` reads an entry of the list, and raises Malformed. `malformed` is the answer to that,
    `unreadable` the answer to a body that cannot be read. The list is in `field`, its entries stand
    at `place`, and `listed` is what the API wants there. An `optional` list may be missing.
    """

    entry: Callable[[Json], Any]
    malformed: Callable[[Malformed], Violation]
    unreadable: Callable[[bytes, Exception], Violation]
    field: str = "messages"
    place: str = "messages[{}]"
    listed: str = "an array of objects"
    optional: bool = False


Extend = Callable[[Sequence[Any]], tuple[Message, ...]]
"""Folds the entries that are new in a request; they are these messages."""

Finish = Callable[[tuple[Message, ...], int, Any], tuple[Violation, ...]]
"""What a request breaks as a whole: its messages, how many of them are kept, and its fields."""


class MessageReader(Generic[Said, AnyReading]):
    """Reads the requests of one session, in order, into readings of one `kind`.

    `extend` and `finish` are the fold of a provider; `more` are fields of its kind of reading.
    """

    def __init__(
        self,
        form: ListForm,
        rules: RuleTable,
        fold: Fold[Any],
        fields: FieldMemory[Said],
        window_tokens: int | None,
        kind: type[AnyReading],
        extend: Extend,
        finish: Finish,
        **more: Any,
    ) -> None:
        self._form, self._rules, self._window_tokens = form, rules, window_tokens
        self._fold, self._fields = fold, fields
        self._last = LastRequest(form.field)
        self._messages: tuple[Message, ...] = ()
        self._kind, self._extend, self._finish, self._more = kind, extend, finish, more

    def read(self, body: bytes) -> AnyReading:
        """A request's bytes as values. What is not a request at all comes back as a violation."""
        try:
            found = self._last.find(body)
            if found.fields is not None:
                self._fields.take(found.fields)
            keep = found.keep
            self._fold.rewind(keep)
            added = self._extend([*self._entries(found)])
            messages = self._messages if keep == len(self._messages) else self._messages[:keep]
            self._messages = messages + added if added else messages
            return self._reading(keep, added)
        except Malformed as error:
            return self._refused(*self._fields.said.violations, self._form.malformed(error))
        except (ValueError, RecursionError) as error:
            broken = self._form.unreadable(body, error)
        self._fields.take({})
        return self._refused(broken)

    def _entries(self, found: NewMessages) -> Iterator[Any]:
        """Raises Malformed with the whole path of the bad entry."""
        form = self._form
        if found.raws is None:
            if form.optional and not found.bad:
                return
            value = decode(found.bad) if found.bad else None
            raise Malformed(form.field, value, form.listed, missing=not found.bad)
        for n, value in enumerate(found.values, start=found.keep):
            try:
                yield form.entry(value)
            except Malformed as error:
                path = form.place.format(n) + error.path
                raise Malformed(path, error.value, error.wanted, missing=error.missing) from None

    def _reading(self, keep: int, added: tuple[Message, ...]) -> AnyReading:
        said, state = self._fields.said, self._fold.state
        size = tokens(state.size_bytes + said.size_bytes)
        broken = said.violations + self._finish(self._messages, keep, said)
        if self._window_tokens is not None:
            active = self._fold.active
            broken += self._rules.window(size, said.max_tokens, self._window_tokens, active)
        return self._kind(
            messages=self._messages,
            keep=keep,
            added=added,
            system=said.system or state.system,
            tokens=size,
            violations=self._rules.of_model(broken, said.model) if broken else (),
            **same_fields(said),
            **self._more,
        )

    def _refused(self, *found: Violation) -> AnyReading:
        self._last.forget()
        self._messages = ()
        self._fold.rewind(0)
        broken = self._rules.of_model(found, self._fields.said.model)
        return msgspec.structs.replace(self._reading(0, ()), violations=broken, unread=True)


_SAME = ("model", "tools", "tools_offered", "max_tokens", "stream", "settings", "purpose")


def same_fields(said: RequestFields) -> dict[str, Any]:
    """What the fields say that a reading says under the same names."""
    return {name: getattr(said, name) for name in _SAME}
