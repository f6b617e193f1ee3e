"""YAML text as plain values, with the line of every key.

PyYAML's loaders follow 1.1 (`no` is false, `12:30` a number), so the 1.2 core schema is applied
here. Numbers that JSON lacks (`.inf`, `.nan`) are strings. Explicit tags are refused, so no file
can name code. Duplicate keys are errors. Aliases are bounded by their expanded size.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import yaml

from harness.core.values.errors import InputError

SIZE_MAX_BYTES = 32 * 1024 * 1024
DEPTH_MAX = 100
VALUES_MAX = 1_000_000
"""How many values a file may hold, counted with each alias written out."""

_SCALARS: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
    (re.compile(r"(|~|null|Null|NULL)\Z"), lambda _: None),
    (re.compile(r"(true|True|TRUE)\Z"), lambda _: True),
    (re.compile(r"(false|False|FALSE)\Z"), lambda _: False),
    (re.compile(r"[-+]?[0-9]{1,400}\Z"), int),
    (re.compile(r"0o[0-7]{1,400}\Z"), lambda text: int(text, 8)),
    (re.compile(r"0x[0-9a-fA-F]{1,400}\Z"), lambda text: int(text, 16)),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z"), float),
)
_IMPLICIT = "implicit"
_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def is_no_text(text: str) -> bool:
    """Whether an unquoted text is read as something else: a number, true, false or null."""
    return any(form.match(text) for form, _ in _SCALARS)


class _Nodes(_Parser):  # type: ignore[misc]
    """A parser whose nodes distinguish explicit tags from implicit ones."""

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: Any) -> str:
        return _IMPLICIT


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
        """The line of the deepest part of `path` that is known, else 1."""
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

    Raises InputError (`line N: …`) for bad YAML, a duplicate key, an explicit tag, and for
    what is too deep or, with its aliases, too large.
    """
    lines = Lines()
    builder = _Builder(text.removeprefix("\ufeff"), lines)
    return builder.root(), lines


class _Built(NamedTuple):
    """A value, with its size and depth as if each alias were expanded."""

    value: Any
    size: int
    depth: int


def _around(value: Any, children: Collection[_Built]) -> _Built:
    size = 1 + sum(child.size for child in children)
    return _Built(value, size, 1 + max((child.depth for child in children), default=0))


class _Builder:
    """An aliased node is built once."""

    def __init__(self, text: str, lines: Lines) -> None:
        self._text, self._lines = text, lines
        self._ends = [found.start() for found in re.finditer(r"\n|\r(?!\n)", text)]
        self._built: dict[int, _Built] = {}
        self._open: set[int] = set()

    def root(self) -> Any:
        try:
            self._check_depth()
            node = yaml.compose(self._text, Loader=_Nodes)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            where = self._at(mark.index) if mark else ""
            what = f"{error.problem or error.context}"
            if mark and self._text[mark.index : mark.index + 1] == "\t":
                what = "a tab, and YAML indents by spaces: put spaces in its place"
            raise InputError(f"not YAML: {what}", where) from None
        except yaml.reader.ReaderError as error:
            what = f"not YAML: the character {error.character!r} is not allowed"
            raise InputError(what, self._at(error.position)) from None
        return None if node is None else self.build(node).value

    def _check_depth(self) -> None:
        """Refuse deep text before nodes are made: the C parser would overflow its stack."""
        depth = 0
        for event in yaml.parse(self._text, Loader=_Nodes):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > DEPTH_MAX:
                    place = self._at(event.start_mark.index) if event.start_mark else ""
                    raise InputError("nested too deeply", place)
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1

    def _at(self, index: int) -> str:
        return f"line {self._line(index)}"

    def _line(self, index: int) -> int:
        """The line as editors count it: YAML ends lines at more characters."""
        return bisect_right(self._ends, index - 1) + 1

    def _place(self, node: yaml.Node) -> str:
        return self._at(node.start_mark.index)

    def build(self, node: yaml.Node) -> _Built:
        """The value of a node, its count of values, and its depth."""
        if id(node) in self._built:
            return self._built[id(node)]
        if id(node) in self._open:
            raise InputError("an alias that contains itself", self._place(node))
        if node.tag != _IMPLICIT:
            raise InputError(f"the tag {node.tag!r} is not allowed", self._place(node))
        self._open.add(id(node))
        built = self._value(node)
        self._open.discard(id(node))
        if built.size > VALUES_MAX:
            raise InputError(f"more than {VALUES_MAX} values, aliases included", self._place(node))
        if built.depth > DEPTH_MAX:
            raise InputError("nested too deeply, aliases included", self._place(node))
        self._built[id(node)] = built
        return built

    def _value(self, node: yaml.Node) -> _Built:
        if isinstance(node, yaml.ScalarNode):
            return _Built(self._scalar(node), 1, 0)
        if isinstance(node, yaml.SequenceNode):
            built = [self.build(child) for child in node.value]
            items = [child.value for child in built]
            places = enumerate(node.value)
            self._lines.put(items, {i: self._line(child.start_mark.index) for i, child in places})
            return _around(items, built)
        return self._mapping(node)

    def _mapping(self, node: yaml.Node) -> _Built:
        built: dict[str, _Built] = {}
        lines: dict[Any, int] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode) or key_node.tag != _IMPLICIT:
                raise InputError("a key must be a plain text", self._place(key_node))
            key = key_node.value
            if key in built:
                what = f"duplicate key `{key}` (first in line {lines[key]})"
                raise InputError(what, self._place(key_node))
            built[key] = self.build(value_node)
            lines[key] = self._line(key_node.start_mark.index)
        values = {key: child.value for key, child in built.items()}
        self._lines.put(values, lines)
        return _around(values, built.values())

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        if node.style in ("'", '"', "|", ">"):
            return node.value
        make = next((make for form, make in _SCALARS if form.match(node.value)), str)
        value = make(node.value)
        if isinstance(value, float) and value in (float("inf"), float("-inf")):
            raise InputError("a number too large", self._place(node))
        return value
