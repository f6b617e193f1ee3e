"""The rules of form: sizes, docstrings, state, addresses, the environment.

Same manner as `architecture_rules`: modules in, violations out, each `file:line what`.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests import architecture_tables as table
from tests.architecture_rules import FUNCTIONS, Module

_MUTABLE_CALLS = frozenset({"list", "dict", "set", "defaultdict", "deque", "Counter", "bytearray"})
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)


def sizes(tree: Iterable[Module]) -> Iterator[str]:
    """Files and functions are small; a function is counted without its docstring."""
    for module in tree:
        lines, most = module.text.count("\n"), table.FILE_LINES
        if module.path.parts[-3:-1] == ("examples", "agents"):
            lines = sum(bool(line.strip()) for line in module.text.splitlines())
            most = table.WHOLE_AGENT_LINES
        if lines > most:
            yield module.at(lines, f"file has {lines} lines, at most {most}")
        for node in module.nodes:
            if isinstance(node, FUNCTIONS) and (n := _length(node)) > table.FUNCTION_LINES:
                yield module.at(node.lineno, f"{node.name} has {n} lines: {table.FUNCTION_LINES}")


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    docstring = 0
    if ast.get_docstring(node) is not None:
        docstring = (first.end_lineno or first.lineno) - first.lineno + 1
    return (node.end_lineno or node.lineno) - node.lineno + 1 - docstring


def docstrings(tree: Iterable[Module]) -> Iterator[str]:
    """Every module, public class, public function and public method says what it means."""
    for module in tree:
        if not ast.get_docstring(module.tree):
            yield module.at(1, "module has no docstring")
        yield from _undocumented(module, module.tree.body, "")


def _undocumented(module: Module, body: list[ast.stmt], owner: str) -> Iterator[str]:
    for node in body:
        if not isinstance(node, (ast.ClassDef, *FUNCTIONS)) or node.name.startswith("_"):
            continue
        if not ast.get_docstring(node) and not _is_repeated(node):
            yield module.at(node.lineno, f"{owner}{node.name} has no docstring")
        if isinstance(node, ast.ClassDef):
            yield from _undocumented(module, node.body, f"{node.name}.")


def _is_repeated(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """An overload, a setter or an override: its meaning stands elsewhere."""
    names = {ast.unparse(d).rpartition(".")[2] for d in node.decorator_list}
    return bool(names & {"overload", "setter", "override"})


def shared_state(tree: Iterable[Module]) -> Iterator[str]:
    """No mutable default argument, no empty container to fill later, no `global`."""
    for module in tree:
        for node in module.nodes:
            if isinstance(node, (ast.Lambda, *FUNCTIONS)):
                defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
                if any(_is_mutable(d) for d in defaults):
                    yield module.at(node.lineno, "mutable default argument")
            elif isinstance(node, ast.Global) and not module.within(*table.PROCESS_STATE):
                yield module.at(node.lineno, f"global {', '.join(node.names)}")
        for statement in module.tree.body:
            value = getattr(statement, "value", None)
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and _is_empty(value):
                yield module.at(statement.lineno, "empty container at module level: a registry")


def _is_mutable(node: ast.expr) -> bool:
    return isinstance(node, _DISPLAYS) or (
        isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _MUTABLE_CALLS
    )


def _is_empty(node: ast.expr | None) -> bool:
    match node:
        case ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(args=[]):
            return _is_mutable(node)
        case ast.Call(func=ast.Name(id="defaultdict")):
            return True
    return False


def loopback(tree: Iterable[Module]) -> Iterator[str]:
    """Servers bind loopback: no wildcard address, no empty host."""
    for module in tree:
        for node in module.nodes:
            match node:
                case ast.Constant(value=str(text)) if "0.0.0.0" in text:
                    yield module.at(node.lineno, "names the wildcard address")
                case ast.Call(
                    func=ast.Attribute(attr="bind" | "create_server"),
                    args=[ast.Tuple(elts=[ast.Constant(value="" | "::"), *_]), *_],
                ):
                    yield module.at(node.lineno, "binds every interface")


def listeners(tree: Iterable[Module]) -> Iterator[str]:
    """One module listens: what it accepts is checked, so no server can be without the check."""
    for module in tree:
        if module.within(*table.LISTENERS):
            continue
        for node in module.nodes:
            if isinstance(node, ast.Call) and _called(node.func) in table.LISTENING:
                yield module.at(node.lineno, f"{_called(node.func)} opens a listener of its own")


def _called(function: ast.expr) -> str:
    return ast.unparse(function).rpartition(".")[2]


def environment(tree: Iterable[Module]) -> Iterator[str]:
    """The environment is not a switch of the library."""
    for module in tree:
        if module.within(*table.ENVIRONMENT_READERS):
            continue
        for node in module.nodes:
            if isinstance(node, ast.Attribute) and ast.unparse(node) in {"os.environ", "os.getenv"}:
                yield module.at(node.lineno, f"reads {ast.unparse(node)}")
        for found in module.imports:
            if found.target in {"os.environ", "os.getenv"}:
                yield module.at(found.line, f"imports {found.target}")


def heavy_imports(root: Path, name: str, allowed: frozenset[str]) -> Iterator[str]:
    """Importing `name`, from the folder `root`, loads no heavy package but the allowed ones."""
    code = f"import sys, {name}; print(*sys.modules)"
    seen = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False
    )
    if seen.returncode:
        yield f"{root}:1 import {name} fails: {seen.stderr.strip().splitlines()[-1]}"
    for module in sorted((table.HEAVY - allowed) & set(seen.stdout.split())):
        yield f"{root}:1 import {name} loads {module}"
