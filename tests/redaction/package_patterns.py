"""Every regular expression of the package, found by syntax tree, and how it is used."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, get_args

from harness.recordings.importing import recorded_texts
from harness.redaction import secret_patterns

PACKAGE = Path(__file__).parents[2] / "harness"
_CALLS = ("compile", "search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split")
_ANCHORED = frozenset({"match", "fullmatch"})

OF_LOCAL_NAMES = {
    "adapters/text_answers.py",
    "checks/evidence/output_tools.py",  # a literal text
    "checks/evidence/shown_text.py",  # a silent word of our table
    "core/values/profile.py",  # sessions, with stars
    "providers/shared/openai.py",
    "providers/shared/record.py",
    "recordings/importing/recorded_texts.py",
    "recordings/model_exchange.py",
    "recordings/recognition.py",  # beginnings of files: a table of ours, tried by `match` alone
    "redaction/secret_patterns.py",
    "report/media/github.py",
    "runner/run.py",  # the name of an SDK
    "scratch/project_copy.py",  # a literal path
    "starter/node_sources.py",
    "starter/project.py",
    "starter/starter_files.py",
    "targets/acp_client.py",  # the name of a tool, escaped
    "stores/formats/own_formats.py",
}
"""Files in which a pattern is made of local names: of tables of ours, or of what a user writes."""


OF_ANCHORED_TABLES = {"files/yaml_text.py", "recordings/yaml_documents.py"}
"""Files whose tables of patterns are tried by `match` and `fullmatch` alone."""


class PackagePattern(NamedTuple):
    """A pattern, where it stands, and whether it is only tried at the beginning of a text."""

    place: str
    pattern: re.Pattern[Any]
    is_anchored: bool


TABLES = "tables of the package"


def places() -> list[str]:
    """The files of the package that may have patterns, and its tables; no file is parsed for it."""
    texts = {path: path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    found = [path for path, text in texts.items() if re.search(r"\bre\.", text)]
    return [*sorted(path.relative_to(PACKAGE).as_posix() for path in found), TABLES]


def package_patterns(place: str) -> Iterator[PackagePattern]:
    """The patterns of a file, or of the tables."""
    yield from _of_tables() if place == TABLES else _of_file(PACKAGE / place)


def _of_tables() -> Iterator[PackagePattern]:
    for shapes in (secret_patterns._IN_WORDS, secret_patterns._APART):
        for shape in shapes.shapes:
            pattern = secret_patterns._pattern(shape.pattern)
            yield PackagePattern(f"secret_shapes.tsv: {shape.issuer}", pattern, False)
    for place in get_args(recorded_texts.Place):
        made = recorded_texts._pattern(place)
        yield PackagePattern(f"agent_texts.tsv: {place}", made, is_anchored=place != "tail")


def _of_file(path: Path) -> Iterator[PackagePattern]:
    nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
    calls = [node for node in nodes if _is_pattern(node)]
    if not calls:
        return
    module = _module(path)
    names, uses = _names(nodes), _uses(nodes)
    for call in calls:
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Attribute)
        pattern = _made(call, vars(module))
        place = f"{path.relative_to(PACKAGE)}:{call.lineno}"
        if pattern is None:
            continue
        used = (
            uses.get(names.get(call, ""), set())
            if call.func.attr == "compile"
            else {call.func.attr}
        )
        is_anchored = str(path.relative_to(PACKAGE)) in OF_ANCHORED_TABLES
        yield PackagePattern(place, pattern, is_anchored or (bool(used) and used <= _ANCHORED))


def unread_files() -> set[str]:
    """The files in which a pattern is made of names that only a function knows."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if _is_pattern(node)]
        if calls and any(_made(call, vars(_module(path))) is None for call in calls):
            found.add(path.relative_to(PACKAGE).as_posix())
    return found


def _module(path: Path) -> ModuleType:
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    return importlib.import_module(name.removesuffix(".__init__"))


def _is_pattern(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in _CALLS
    )


def _made(call: ast.Call, names: dict[str, Any]) -> re.Pattern[Any] | None:
    """The pattern of a call; None where it depends on local names."""
    assert isinstance(call.func, ast.Attribute)
    given = [*call.args[:1], *(call.args[1:] if call.func.attr == "compile" else ())]
    given += [word.value for word in call.keywords if word.arg == "flags"]
    try:
        values = [eval(compile(ast.Expression(one), "", "eval"), names) for one in given]
    except NameError:
        return None
    return re.compile(*values)


def _names(nodes: Sequence[ast.AST]) -> dict[ast.Call, str]:
    """The constant that each pattern is assigned to."""
    return {
        call: node.targets[0].id
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        for call in ast.walk(node.value)
        if isinstance(call, ast.Call)
    }


def _uses(nodes: Sequence[ast.AST]) -> dict[str, set[str]]:
    """The methods by which each constant is used; `` for another use."""
    found: dict[str, set[str]] = {}
    called = {
        id(node.func.value): node.func.attr
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.setdefault(node.id, set()).add(called.get(id(node), ""))
    return found
