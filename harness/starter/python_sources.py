"""Agents in Python sources, found in their syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TypeAlias

import msgspec

from harness.starter.candidate import TEXTS, Candidate, Kind
from harness.starter.libraries import Library, imported, of_language

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_CALLS = frozenset(
    {"acompletion", "ainvoke", "completion", "create", "generate", "generate_content", "invoke"}
    | {"kickoff", "parse", "run", "run_sync", "send_message", "stream", "tool_runner"}
)
"""Methods by which the clients of the libraries call a model."""

_STREAMS = ("messages.stream", "responses.create", "responses.parse", "responses.stream")
_READS_WORDS = ("sys.argv", "argparse.ArgumentParser", "click.command", "typer.Typer", "typer.run")


class Source(msgspec.Struct, frozen=True):
    """A Python file of a project: its tree, its imports by local name, and its libraries."""

    path: str
    module: str
    text: str
    tree: ast.Module
    imports: dict[str, str]
    libraries: tuple[Library, ...]

    def dotted(self, node: ast.expr) -> str:
        """The dotted name of an expression, with what it was imported as; "" for another one."""
        if isinstance(node, ast.Name):
            return self.imports.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            above = self.dotted(node.value)
            return f"{above}.{node.attr}" if above else f"?.{node.attr}"
        return ""

    @property
    def wire(self) -> str:
        """The API that the file's own SDK speaks; "" where its text does not show it."""
        wires = [row.wire for row in self.libraries if row.wire]
        if "openai-chat" in wires and any(way in self.text for way in _STREAMS[1:]):
            wires = ["openai-responses" if wire == "openai-chat" else wire for wire in wires]
        return wires[0] if wires else ""


def module_of(path: str) -> str:
    """The import path of a file, "" for one that cannot be imported by name."""
    parts = PurePosixPath(path).with_suffix("").parts
    parts = parts[1:] if parts[0] == "src" else parts
    parts = parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts
    return ".".join(parts) if all(part.isidentifier() for part in parts) else ""


def source(path: str, text: str) -> Source | None:
    """A Python file; None for one that has no tree, or no name to be imported by."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    imports = dict(_imports(tree))
    rows = imported(imports.values(), "python")
    return Source(path, module_of(path), text, tree, imports, rows)


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield (name.asname or name.name.partition(".")[0],
                       name.name if name.asname else name.name.partition(".")[0])  # fmt: skip
                yield f"import {name.name}", name.name
        elif isinstance(node, ast.ImportFrom):
            above = "." * node.level + (node.module or "")
            for name in node.names:
                joint = "" if above.endswith(".") else "."
                yield name.asname or name.name, f"{above}{joint}{name.name}"


def python_sources(files: Mapping[str, str]) -> list[Source]:
    """The Python files of a project that have a tree."""
    return [made for path, text in files.items() if (made := source(path, text))]


def python_candidates(sources: Sequence[Source], near: set[str]) -> list[Candidate]:
    """The candidates of Python files, of which some modules are near a model."""
    return [found for each in sources for found in _found(each, each.module in near)]


def near_a_model(sources: Sequence[Source]) -> set[str]:
    """The modules that import a library, or another module of the project that does."""
    near = {each.module for each in sources if each.libraries}
    while True:
        more = {s.module for s in sources if s.module not in near and _imports_any(s, near)}
        if not more:
            return near
        near |= more


def _imports_any(each: Source, near: set[str]) -> bool:
    package = each.module.split(".")
    for name in each.imports.values():
        level = len(name) - len(name.lstrip("."))
        above = package[: len(package) - level] if level else []
        parts = [*above, *filter(None, name.lstrip(".").split("."))]
        if ".".join(parts) in near or ".".join(parts[:-1]) in near:
            return True
    return False


def _found(each: Source, is_near: bool) -> Iterator[Candidate]:
    if not each.module:
        return
    for node in each.tree.body:
        if isinstance(node, _Function):
            yield from _of_function(each, node, is_near)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            yield from _of_assignment(each, node)
        elif isinstance(node, ast.ClassDef) and is_near:
            yield from _of_class(each, node)
    if is_near and _is_command(each):
        yield Candidate(path=each.path, line=1, kind="command", module=each.module, wire=each.wire)


def _of_function(each: Source, node: _Function, is_near: bool) -> Iterator[Candidate]:
    tools = [name for item in node.decorator_list if "tool" in (name := ast.unparse(item))]
    if node.name.startswith(("_", "test_")) or tools:
        return
    if row := _returned_agent(each, node):
        yield _candidate(each, node, "object", library=row.package, is_factory=True)
    elif takes_brief(node):
        yield _candidate(each, node, "brief")
    elif is_near and takes_text(node) and _returns(node):
        yield _candidate(each, node, "chat")


def _of_assignment(each: Source, node: ast.Assign | ast.AnnAssign) -> Iterator[Candidate]:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if isinstance(target, ast.Name) and (row := _maker(each, node.value)):
        yield Candidate(
            path=each.path, line=node.lineno, kind="object", name=target.id, module=each.module,
            library=row.package, wire=row.wire or each.wire, 
        )  # fmt: skip


def _of_class(each: Source, node: ast.ClassDef) -> Iterator[Candidate]:
    methods = [item for item in node.body if isinstance(item, _Function)]
    made = next((m for m in methods if m.name == "__init__"), None)
    if node.name.startswith("_") or (made and len(_required(made)) > 1):
        return
    for method in methods:
        if not method.name.startswith("_") and takes_text(method, skip=1) and _returns(method):
            named = _candidate(each, method, "method")
            yield msgspec.structs.replace(named, name=f"{node.name}.{method.name}")


def _candidate(
    each: Source, node: _Function, kind: Kind, *, library: str = "", is_factory: bool = False
) -> Candidate:
    is_text = isinstance(node.returns, ast.Name) and node.returns.id == "str"
    return Candidate(
        path=each.path, line=node.lineno, kind=kind, name=node.name, module=each.module,
        library=library, wire=each.wire, is_async=isinstance(node, ast.AsyncFunctionDef),
        is_factory=is_factory, is_typed=is_text, asks=_calls_model(node),
    )  # fmt: skip


def _maker(each: Source, value: ast.expr | None) -> Library | None:
    """The library with which a value is made that is an agent object."""
    if not isinstance(value, ast.Call):
        return None
    dotted = each.dotted(value.func)
    known = [row for row in of_language("python") if row in each.libraries]
    return next((row for row in known if row.makes_agent(dotted)), None)


def _returned_agent(each: Source, node: _Function) -> Library | None:
    if _required(node) or isinstance(node, ast.AsyncFunctionDef):
        return None
    returned = (item.value for item in ast.walk(node) if isinstance(item, ast.Return))
    return next((row for value in returned if (row := _maker(each, value))), None)


def _parameters(node: _Function) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args]


def _required(node: _Function) -> list[ast.arg]:
    found = _parameters(node)
    needed = found[: len(found) - len(node.args.defaults)]
    named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return [*needed, *(one for one, default in named if default is None)]


def takes_brief(node: _Function) -> bool:
    """Whether a function is one of its brief."""
    first = next(iter(_parameters(node)), None)
    if first is None or len(_required(node)) > 1:
        return False
    return first.arg == "brief" or "Brief" in _annotation(first)


def takes_text(node: _Function, skip: int = 0) -> bool:
    """Whether a function takes what the user says, and needs nothing else."""
    first = next(iter(_parameters(node)[skip:]), None)
    if first is None or len(_required(node)) > skip + 1:
        return False
    return _annotation(first) == "str" or (not first.annotation and first.arg in TEXTS)


def _annotation(argument: ast.arg) -> str:
    return ast.unparse(argument.annotation).strip("'\"") if argument.annotation else ""


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function, those of functions inside it apart."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _Function | ast.Lambda | ast.ClassDef):
            yield child
            yield from _own(child)


def _returns(node: _Function) -> bool:
    found = [item for item in _own(node) if isinstance(item, ast.Return) and item.value]
    yields = any(isinstance(item, ast.Yield | ast.YieldFrom) for item in _own(node))
    return not yields and any(not isinstance(item.value, ast.Dict | ast.List | ast.Tuple)
                              for item in found)  # fmt: skip


def _calls_model(node: _Function) -> bool:
    calls = (item.func for item in ast.walk(node) if isinstance(item, ast.Call))
    return any(isinstance(func, ast.Attribute) and func.attr in _CALLS for func in calls)


def _is_command(each: Source) -> bool:
    """Whether a file is a script that reads the words of its user."""
    guarded = "__main__" in each.text or each.path.endswith("__main__.py")
    called = {each.dotted(item.func) for item in ast.walk(each.tree) if isinstance(item, ast.Call)}
    named = {each.dotted(item) for item in ast.walk(each.tree) if isinstance(item, ast.Attribute)}
    return guarded and any(way in called or way in named for way in _READS_WORDS)


def defined(text: str) -> dict[str, Kind] | None:
    """The functions of a module, each with the kind that its form shows; None for no Python."""
    made = source("module.py", text)
    if made is None:
        return None
    kinds: dict[str, Kind] = {}
    for node in made.tree.body:
        if isinstance(node, _Function):
            kinds[node.name] = "chat" if takes_text(node) and not takes_brief(node) else "brief"
    return kinds
