"""YAML as vcrpy writes it: plain values, nothing built that a file asks for.

A cassette may come from anywhere. A tag is a wish to have an object made, so every tag but those of
text, numbers and binary is refused. The events of the parser in C are put together here without
recursion, since its own composer ends the process on deep nesting; aliases share what they name,
so no file can grow in memory.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

import yaml

from harness.core.errors import InputError
from harness.core.messages import Json

DEPTH_MAX = 100
"""How deeply a cassette may nest; vcrpy itself needs 6 levels."""

_TAG = "tag:yaml.org,2002:"
_TEXTS = {f"{_TAG}str", f"{_TAG}python/str", f"{_TAG}python/unicode"}
_PLAIN = {f"{_TAG}int", f"{_TAG}null", f"{_TAG}bool", f"{_TAG}float", f"{_TAG}timestamp"}
_BINARY = f"{_TAG}binary"
_CONTAINERS = {f"{_TAG}map", f"{_TAG}seq", "!"}


class _Open:
    """A list or mapping whose end has not come; of a mapping, keys and values in turn."""

    __slots__ = ("anchor", "is_mapping", "items", "line")

    def __init__(self, anchor: str | None, is_mapping: bool, line: int) -> None:
        self.anchor, self.is_mapping, self.line = anchor, is_mapping, line
        self.items: list[Json] = []

    def value(self) -> Json:
        """The list or mapping; a mapping knows its line under the key None."""
        if not self.is_mapping:
            return self.items
        pairs = zip(self.items[::2], self.items[1::2], strict=True)
        made: dict[Any, Json] = {
            key if isinstance(key, str) else repr(key): value for key, value in pairs
        }
        made[None] = self.line
        return made


class _Document:
    """A document as its events come in; the lowest open list holds the value of the whole."""

    def __init__(self) -> None:
        self._stack = [_Open(None, is_mapping=False, line=1)]
        self._anchors: dict[str, Json] = {}

    @property
    def roots(self) -> list[Json]:
        """The values of the documents so far."""
        return self._stack[0].items

    def take(self, event: yaml.Event) -> None:
        """Take in an event of the parser."""
        match event:
            case yaml.ScalarEvent():
                self._add(_scalar(event), event.anchor)
            case yaml.CollectionStartEvent():
                self._begin(event)
            case yaml.CollectionEndEvent():
                done = self._stack.pop()
                self._add(done.value(), done.anchor)
            case yaml.AliasEvent():
                if event.anchor not in self._anchors:
                    raise InputError(f"no anchor &{event.anchor} before this", _place(event))
                self._add(self._anchors[event.anchor], None)

    def _begin(self, event: yaml.CollectionStartEvent) -> None:
        if event.tag is not None and event.tag not in _CONTAINERS:
            raise _refused(event, event.tag)
        if len(self._stack) > DEPTH_MAX:
            raise InputError(f"nests more than {DEPTH_MAX} levels deep", _place(event))
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        self._stack.append(_Open(event.anchor, is_mapping, _line(event)))

    def _add(self, value: Json, anchor: str | None) -> None:
        self._stack[-1].items.append(value)
        if anchor is not None:
            self._anchors[anchor] = value


def parse(data: bytes) -> Json:
    """The value of a YAML document; a mapping holds its line under the key None.

    Raises InputError (`line N: ...`) for what is no YAML, a tag that is not allowed, a second
    document, or an empty file.
    """
    document = _Document()
    try:
        for event in yaml.parse(data, Loader=yaml.CSafeLoader):
            document.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}" if mark else ""
        raise InputError(f"not YAML: {error.problem or error.context}", where) from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise InputError(f"not YAML: {' '.join(str(error).split())}") from None
    if len(document.roots) != 1:
        raise InputError("the file is empty" if not document.roots else "more than one document")
    return document.roots[0]


def _scalar(event: yaml.ScalarEvent) -> Json:
    if event.tag == _BINARY:
        try:
            return base64.b64decode(event.value, validate=False)
        except binascii.Error:
            raise InputError("binary that is no base64", _place(event)) from None
    if event.tag in _TEXTS or (event.tag is None and not event.implicit[0]) or event.tag == "!":
        return event.value
    if event.tag is None or event.tag in _PLAIN:
        return _plain(event.value)
    raise _refused(event, event.tag)


def _plain(text: str) -> Json:
    """A plain scalar: nothing, a whole number, or the text itself."""
    if text in ("", "~", "null"):
        return None
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else text


def _refused(event: yaml.Event, tag: str) -> InputError:
    name = tag.replace(_TAG, "!!")
    return InputError(f"the tag {name!r} is not allowed: a file cannot make objects", _place(event))


def _place(event: yaml.Event) -> str:
    return f"line {_line(event)}"


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1
