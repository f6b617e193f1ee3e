"""The design's rules as functions: a tree of modules in, violations out.

Only the syntax is read (`ast`), never the running code, so a rule sees imports inside functions
and behind `TYPE_CHECKING` too. Each rule takes the modules of one package and yields lines of the
form `file:line what`, so that one run names every place. The rules of form are in `shape_rules`,
that of events is in `event_rules`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests import architecture_tables as table

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Import:
    """One imported name: `target` is dotted and absolute, `bound` what the file calls it.

    `deferred` says that it stands inside a function.
    """

    line: int
    target: str
    bound: str
    deferred: bool


@dataclass(frozen=True)
class Module:
    """A parsed file; `name` is relative to the package: `core.draws`, `core`, "" for the face."""

    path: Path
    name: str
    package: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text, str(self.path))

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree."""
        return list(ast.walk(self.tree))

    @cached_property
    def imports(self) -> list[Import]:
        """Every import in the file, wherever it stands."""
        return list(_imports(self, self.tree, deferred=False))

    @property
    def room(self) -> str:
        """The first part of the name: a folder or file directly below the package."""
        return self.name.partition(".")[0]

    def within(self, *places: str) -> bool:
        """Whether the module is one of these places or stands below one."""
        return any(p in ("", self.name) or self.name.startswith(f"{p}.") for p in places)

    def at(self, line: int, what: str) -> str:
        """A violation, in one line."""
        return f"{self.path}:{line} {what}"


def modules(root: Path) -> list[Module]:
    """The modules of the package whose folder is `root`, in order of their paths."""
    return [
        Module(p, _name(p.relative_to(root)), root.name, p.read_text("utf-8"))
        for p in sorted(root.rglob("*.py"))
    ]


def _name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(module: Module, node: ast.AST, deferred: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for name in child.names:
                bound = name.asname or name.name.partition(".")[0]
                yield Import(child.lineno, name.name, bound, deferred)
        elif isinstance(child, ast.ImportFrom):
            base = _absolute(module, child)
            for name in child.names:
                bound = name.asname or name.name
                yield Import(child.lineno, f"{base}.{name.name}", bound, deferred)
        else:
            yield from _imports(module, child, deferred or isinstance(child, FUNCTIONS))


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    here = [module.package, *filter(None, module.name.split("."))]
    is_package = module.path.name == "__init__.py"
    above = here[: len(here) - node.level + (1 if is_package else 0)]
    return ".".join([*above, *filter(None, [node.module])])


def _inner(module: Module, target: str) -> str | None:
    """An imported name relative to the package, or None when it is not ours."""
    top, _, rest = target.partition(".")
    return rest if top == module.package else None


def _room_of(inner: str) -> str:
    room = inner.partition(".")[0]
    return room if room in table.FLOORS else ""


def pure_rooms(tree: Iterable[Module]) -> Iterator[str]:
    """Pure rooms import nothing but `PURE_STDLIB`, msgspec and ours, and call nothing impure."""
    for module in tree:
        if module.within(*table.PURE):
            yield from _impure_imports(module)
            yield from _impure_calls(module)


def _impure_imports(module: Module) -> Iterator[str]:
    for found in module.imports:
        top = found.target.partition(".")[0]
        refused = any(
            found.target == part or found.target.startswith(f"{part}.")
            for part in table.PURE_STDLIB_REFUSED
        )
        ours = top in {module.package, "msgspec"} or (module.name, top) in table.PURE_EXCEPTIONS
        pure = top in table.PURE_STDLIB or found.target in table.PURE_STDLIB_PARTS
        if refused or not (ours or pure):
            yield module.at(found.line, f"pure room imports {found.target}")


def _impure_calls(module: Module) -> Iterator[str]:
    for node in module.nodes:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in table.IMPURE_CALLS:
                yield module.at(node.lineno, f"pure room calls {name}()")
            case ast.Call(func=ast.Attribute(attr=name)) if name in table.IMPURE_METHODS:
                yield module.at(node.lineno, f"pure room reads the clock: .{name}()")


def floors(tree: Iterable[Module]) -> Iterator[str]:
    """Imports point to a lower floor or along one, and `ONLY` narrows some rooms further."""
    for module in tree:
        if module.room not in table.FLOORS:
            yield module.at(1, f"room {module.room} has no floor in architecture_tables.FLOORS")
            continue
        for found in module.imports:
            inner = _inner(module, found.target)
            if inner is not None and not _may_import(module.room, _room_of(inner)):
                yield module.at(found.line, f"{module.room} may not import {found.target}")


def _may_import(room: str, other: str) -> bool:
    if other in (room, *table.EVERYWHERE):
        return True
    if room in table.ONLY:
        return other in table.ONLY[room]
    return table.FLOORS[other] <= table.FLOORS[room]


def sub_floors(tree: Iterable[Module]) -> Iterator[str]:
    """Within a room, imports point to a lower floor or along one, as `SUB_FLOORS` says."""
    for module in tree:
        for place, floors_of in table.SUB_FLOORS.items():
            mine = _part(place, module.name)
            if mine is None:
                continue
            for found, other in _imports_within(place, module):
                if other and mine and _floor(floors_of, other) > _floor(floors_of, mine):
                    yield module.at(found.line, f"{place}.{mine} may not import {found.target}")


def siblings(tree: Iterable[Module]) -> Iterator[str]:
    """Siblings do not import each other, as `SIBLINGS` says."""
    for module in tree:
        for place, rule in table.SIBLINGS.items():
            mine = _part(place, module.name)
            if not mine or mine in rule.above:
                continue
            for found, other in _imports_within(place, module):
                if other not in {mine, *rule.common}:
                    what = f"{place}.{mine} may not import its sibling {found.target}"
                    yield module.at(found.line, what)


def _floor(floors_of: dict[str, int], part: str) -> int:
    return floors_of.get(part, floors_of.get("*", 0))


def _part(place: str, name: str) -> str | None:
    """The part of a place that a module belongs to: "" for its face, None when it is elsewhere."""
    if name == place:
        return ""
    return name[len(place) + 1 :].partition(".")[0] if name.startswith(f"{place}.") else None


def _imports_within(place: str, module: Module) -> Iterator[tuple[Import, str]]:
    """The imports of a module that lead into a place, with the part that they lead to."""
    for found in module.imports:
        inner = _inner(module, found.target)
        part = None if inner is None else _part(place, inner)
        if part:
            yield found, part


def names(tree: Iterable[Module]) -> Iterator[str]:
    """A file name stands once in the package, but in the places of `NAMES_AGAIN`."""
    first: dict[str, Module] = {}
    for module in tree:
        name = module.path.name
        if name == "__init__.py" or module.within(*table.NAMES_AGAIN):
            continue
        if name in first:
            yield module.at(1, f"a second file of this name: {first[name].path}")
        first.setdefault(name, module)


def providers_in_core(tree: Iterable[Module]) -> Iterator[str]:
    """`core` names no provider: neither in its code nor in its texts."""
    for module in tree:
        if not module.within("core"):
            continue
        for node in module.nodes:
            text = node.value if isinstance(node, ast.Constant) else ""
            said = set(_WORD.findall(text.lower())) if isinstance(text, str) else set()
            if (module.name, text) in table.PROVIDER_DEFAULTS or module.within(*table.SDK_METHODS):
                continue
            for word in sorted(said & table.PROVIDER_WORDS):
                yield module.at(getattr(node, "lineno", 1), f"core names the provider {word}")


_WORD = re.compile(r"[a-z]+")


def cycles(tree: Iterable[Module]) -> Iterator[str]:
    """No cycle of modules within a room, and none of rooms: imports inside functions count too."""
    known = {m.name: m for m in tree}
    files: dict[str, set[str]] = {name: set() for name in known}
    rooms: dict[str, set[str]] = {}
    for module in known.values():
        for found in module.imports:
            inner = _inner(module, found.target)
            if inner is None:
                continue
            used = inner if inner in known else inner.rpartition(".")[0]
            is_near = used in known and known[used].room == module.room
            if used != module.name and (is_near or not found.deferred):
                files[module.name].add(used)
            if _room_of(inner) != module.room:
                rooms.setdefault(module.room, set()).add(_room_of(inner))
    for what, graph in (("modules", files), ("rooms", rooms)):
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            names = [name or "(face)" for name in error.args[1]]
            place = known.get(error.args[1][0]) or next(iter(known.values()))
            yield place.at(1, f"cycle of {what}: {' -> '.join(reversed(names))}")


def packages(tree: Iterable[Module]) -> Iterator[str]:
    """A third-party package is imported only in its room; the agent is a user's code."""
    for module in tree:
        for found in module.imports:
            top = found.target.partition(".")[0]
            ours = top == module.package or top in sys.stdlib_module_names
            if not ours and not module.within("agent", *table.PACKAGES.get(top, ())):
                yield module.at(found.line, f"{top} is not imported here: see PACKAGES")
