"""The fields of a request beside its messages, read again only where their bytes have changed.

System prompt and tools are the same bytes in nearly every request of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json, ToolSpec


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
    prompt; `violations` are fields that are missing, wrong, or that do not go together.
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
        """Take in the fields of a request; raises ValueError when one is no JSON."""
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
