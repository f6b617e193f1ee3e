"""YAML of other programs: tags build nothing, and all values are plain.

Cassettes carry tags of their writers (`!!python/object/apply:...istr`, Ruby's `!binary`). Events of
the C parser are composed here without recursion: its own composer ends the process on deep nesting.
Plain scalars are numbers only where all versions of YAML agree; times stay text.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any

import yaml

from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.recordings.http_interaction import is_text
from harness.recordings.json_documents import not_utf8

_DEPTH = 200
_WEIGHT = 5_000_000
"""How deeply a document may nest, and for how many values it may stand, aliases followed."""


class _OpenCollection:
    __slots__ = ("anchor", "is_mapping", "items", "mark", "weight")

    def __init__(self, anchor: str | None, is_mapping: bool, mark: Any = None) -> None:
        self.anchor, self.is_mapping, self.mark = anchor, is_mapping, mark
        self.items: list[Json] = []
        self.weight = 1

    def value(self) -> Json:
        if not self.is_mapping:
            return self.items
        pairs = zip(self.items[::2], self.items[1::2], strict=True)
        made = {_key(key): value for key, value in pairs}
        if 2 * len(made) < len(self.items):
            names = [_key(key) for key in self.items[::2]]
            twice = next(name for n, name in enumerate(names) if name in names[:n])
            raise InputError(f"the key {twice[:80]!r} stands twice", _place(self.mark))
        return made


def _key(key: Json) -> str:
    """A key as text; a tagged key is the list of its constructor's arguments."""
    if isinstance(key, list) and len(key) == 1:
        key = key[0]
    return key if isinstance(key, str) else str(key)


class _Document:
    """A document under construction; `stack[0]` holds the value of the whole."""

    def __init__(self) -> None:
        self.stack = [_OpenCollection(None, is_mapping=False)]
        self._anchors: dict[str, tuple[Json, int]] = {}

    def begin(self, event: yaml.CollectionStartEvent) -> None:
        if len(self.stack) > _DEPTH:
            raise InputError(f"nests more than {_DEPTH} levels deep", _place(event.start_mark))
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        self.stack.append(_OpenCollection(event.anchor, is_mapping, event.start_mark))

    def end(self, event: yaml.CollectionEndEvent) -> None:
        done = self.stack.pop()
        self._add(event, done.value(), done.weight, done.anchor)

    def scalar(self, event: yaml.ScalarEvent) -> None:
        self._add(event, _scalar(event), 1, event.anchor)

    def alias(self, event: yaml.AliasEvent) -> None:
        if event.anchor not in self._anchors:
            raise InputError(f"no anchor &{event.anchor} before this", _place(event.start_mark))
        self._add(event, *self._anchors[event.anchor], None)

    def document(self, event: yaml.DocumentStartEvent) -> None:
        if self.stack[0].items:
            raise InputError("a second document begins", _place(event.start_mark))

    def _add(self, event: yaml.Event, value: Json, weight: int, anchor: str | None) -> None:
        parent = self.stack[-1]
        parent.items.append(value)
        parent.weight += weight
        if parent.weight > _WEIGHT:
            raise InputError("aliases make it grow beyond all measure", _place(event.start_mark))
        if anchor is not None:
            self._anchors[anchor] = value, weight


_EVENTS: dict[type, Callable[..., None]] = {
    yaml.ScalarEvent: _Document.scalar,
    yaml.MappingStartEvent: _Document.begin,
    yaml.SequenceStartEvent: _Document.begin,
    yaml.MappingEndEvent: _Document.end,
    yaml.SequenceEndEvent: _Document.end,
    yaml.AliasEvent: _Document.alias,
    yaml.DocumentStartEvent: _Document.document,
}


def parse(data: bytes) -> Json:
    """The plain value of a YAML document; raises InputError, with the line, for bad YAML."""
    document = _Document()
    try:
        for event in yaml.parse(data, Loader=yaml.CSafeLoader):
            if (take := _EVENTS.get(type(event))) is not None:
                take(document, event)
    except yaml.MarkedYAMLError as error:
        what = error.problem or error.context or "not well formed"
        raise InputError("not YAML", _place(error.problem_mark), more=what) from None
    except (yaml.YAMLError, UnicodeError) as error:
        if not is_text(data):
            raise not_utf8(data) from None
        raise InputError("not YAML", "line 1", more=" ".join(str(error).split())) from None
    return document.stack[0].items[0] if document.stack[0].items else None


def _place(mark: Any) -> str:
    return f"line {mark.line + 1}" if mark else ""


def _scalar(event: yaml.ScalarEvent) -> Json:
    text: str = event.value
    if event.tag in ("!binary", "tag:yaml.org,2002:binary"):
        try:
            return base64.b64decode(text)
        except ValueError as error:
            what = "binary that is not base64"
            raise InputError(what, _place(event.start_mark), more=str(error)) from None
    if not event.implicit[0] or (text and text[0] not in "~nNtTfF+-.0123456789"):
        return text
    return next((read(text) for form, read in _PLAIN if form.fullmatch(text)), text)


_PLAIN: tuple[tuple[re.Pattern[str], Callable[[str], Json]], ...] = (
    (re.compile(r"~?|null|Null|NULL"), lambda text: None),
    (re.compile(r"true|True|TRUE"), lambda text: True),
    (re.compile(r"false|False|FALSE"), lambda text: False),
    (re.compile(r"[-+]?(?:0|[1-9][0-9]{0,299})"), int),
    (re.compile(r"(?:[-+]?[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?"), float),
    (re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"), lambda t: float(t.replace(".", ""))),
)
"""Plain scalars that are not text, where YAML 1.1 and 1.2 agree: `0e12` and `08` may be ids."""
