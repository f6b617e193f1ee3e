"""The rule of events: made in `core.history`, by the transition, the runner and the readers.

The names are read from `core/history/` itself: the event classes are those that descend from
`Event`, the constructors are the functions that build one. Same manner as `architecture_rules`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tests import architecture_tables as table
from tests.architecture_rules import FUNCTIONS, Module


def events(tree: Iterable[Module]) -> Iterator[str]:
    """Events are built in `core.history`; `EVENT_MAKERS` alone call its constructors."""
    tree = list(tree)
    home = [m for m in tree if m.within("core.history")]
    kinds = _event_classes(home)
    makers = _constructors(home, kinds)
    for module in tree:
        if module not in home:
            yield from _made_here(module, kinds, makers)


def _made_here(module: Module, kinds: set[str], makers: set[str]) -> Iterator[str]:
    prefix = f"{module.package}.core.history."
    imported = {
        f.bound: f.target.rpartition(".")[2] for f in module.imports if f.target.startswith(prefix)
    }
    for call in (n for n in module.nodes if isinstance(n, ast.Call)):
        name = _last_name(call.func)
        on_history = _is_on_history(call)
        is_imported = isinstance(call.func, ast.Name) and imported.get(name) in kinds
        if is_imported or (on_history and name in kinds):
            yield module.at(call.lineno, f"builds the event {name}: use a constructor")
        elif on_history and name in makers and not module.within(*table.EVENT_MAKERS):
            yield module.at(call.lineno, f"only EVENT_MAKERS call history.{name}()")


def _event_classes(home: Iterable[Module]) -> set[str]:
    kinds = {"Event"}
    for module in home:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and kinds & {_last_name(b) for b in node.bases}:
                kinds.add(node.name)
    return kinds


def _constructors(home: Iterable[Module], kinds: set[str]) -> set[str]:
    return {
        function.name
        for module in home
        for function in module.nodes
        if isinstance(function, FUNCTIONS)
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and _last_name(call.func) in kinds
    }


def _is_on_history(call: ast.Call) -> bool:
    """`history.called(...)`, `self._history.called(...)`, or any `x.called(at_ms=...)`."""
    if not isinstance(call.func, ast.Attribute):
        return False
    named = "history" in _last_name(call.func.value).lower()
    return named or any(keyword.arg == "at_ms" for keyword in call.keywords)


def _last_name(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=func):
            return _last_name(func)
    return ""
