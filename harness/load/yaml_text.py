"""YAML text as plain values, with the line of every key.

PyYAML's C parser gives nodes; the core schema of YAML 1.2 is applied here, because the loaders of
PyYAML follow 1.1, where `no` is false and `12:30` is a number. Explicit tags are refused, so that
no file can name code; duplicate keys are errors, since one of the two is a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml

from harness.core.errors import InputError

SIZE_MAX_BYTES = 32 * 1024 * 1024

_SCALARS: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
    (re.compile(r"(|~|null|Null|NULL)\Z"), lambda _: None),
    (re.compile(r"(true|True|TRUE)\Z"), lambda _: True),
    (re.compile(r"(false|False|FALSE)\Z"), lambda _: False),
    (re.compile(r"[-+]?[0-9]{1,400}\Z"), int),
    (re.compile(r"0o[0-7]+\Z"), lambda text: int(text, 8)),
    (re.compile(r"0x[0-9a-fA-F]+\Z"), lambda text: int(text, 16)),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z"), float),
)
_TAGS = {"map", "seq", "str", "int", "float", "bool", "null"}


class Lines:
    """Where the keys and items of the containers stand; containers are known by identity."""

    def __init__(self) -> None:
        self._of: dict[int, dict[Any, int]] = {}
        self._kept: list[Any] = []

    def put(self, container: Any, lines: dict[Any, int]) -> None:
        """Remember the lines of a container's keys or indices."""
        self._of[id(container)] = lines
        self._kept.append(container)

    def of(self, container: Any) -> dict[Any, int]:
        """The lines of a container's keys or indices."""
        return self._of.get(id(container), {})

    def find(self, root: Any, path: list[str | int]) -> int:
        """The line of the deepest part of `path` that is known; 1 when none is."""
        line, value = 1, root
        for part in path:
            line = self.of(value).get(part, line)
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                break
        return line


def parse(text: str) -> tuple[Any, Lines]:
    """Plain values and their lines.

    Raises InputError (`line N: …`) for what is no YAML, a duplicate key or an explicit tag.
    """
    try:
        root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}" if mark else ""
        raise InputError(f"not YAML: {error.problem or error.context}", where) from None
    except yaml.YAMLError as error:
        raise InputError(f"not YAML: {' '.join(str(error).split())}") from None
    lines = Lines()
    return (None if root is None else _Builder(lines).build(root)), lines


class _Builder:
    """Builds values from nodes; an aliased node is built once."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._built: dict[int, Any] = {}
        self._open: set[int] = set()

    def build(self, node: yaml.Node) -> Any:
        """The value of a node."""
        if id(node) in self._built:
            return self._built[id(node)]
        if id(node) in self._open:
            raise InputError("an alias that contains itself", _place(node))
        if len(self._open) > 100:
            raise InputError("nested too deeply", _place(node))
        self._open.add(id(node))
        value = self._value(node)
        self._open.discard(id(node))
        self._built[id(node)] = value
        return value

    def _value(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if isinstance(node, yaml.SequenceNode):
            items = [self.build(child) for child in node.value]
            self._lines.put(items, {i: _line(child) for i, child in enumerate(node.value)})
            return items
        return self._mapping(node)

    def _mapping(self, node: yaml.Node) -> dict[str, Any]:
        values: dict[str, Any] = {}
        lines: dict[Any, int] = {}
        for key_node, value_node in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if key is None:
                raise InputError("a key must be a plain text", _place(key_node))
            if key in values:
                first = lines[key]
                raise InputError(f"duplicate key `{key}` (first in line {first})", _place(key_node))
            values[key] = self.build(value_node)
            lines[key] = _line(key_node)
        self._lines.put(values, lines)
        return values


def _scalar(node: yaml.ScalarNode) -> Any:
    tag = node.tag.rpartition(":")[2]
    if tag not in _TAGS and tag not in ("timestamp", "merge", "value"):
        raise InputError(f"the tag {node.tag!r} is not allowed", _place(node))
    if node.style in ("'", '"', "|", ">"):
        return node.value
    return next((make(node.value) for form, make in _SCALARS if form.match(node.value)), node.value)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _place(node: yaml.Node) -> str:
    return f"line {_line(node)}"
