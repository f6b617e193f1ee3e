"""The prose that stands in Python, scenarios and tables: where it is found, as paragraphs.

Docstrings and comments are read everywhere. The strings of the package are read too: a user meets
them as messages. Tests hold strings of other people, so theirs are not read.
"""

from __future__ import annotations

import ast
import csv
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# Patterns, markup and JSON in strings.
_CODE = re.compile(r"\\|\(\?|<[!a-z]|\{\"")
PROSE_KEYS = {"title", "story", "note", "why", "expected", "observed", "what", "summary", "text"}


def prose(path: Path) -> Iterator[str]:
    """Each paragraph of prose of a file, for a file of any kind that this module knows."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from _python(text, strings="harness" in path.parts)
    elif path.suffix == ".yaml":
        yield from _values(yaml.load(text, Loader=yaml.CSafeLoader), {"title", "story"})
    elif path.suffix == ".toml":
        yield from _values(tomllib.loads(text), PROSE_KEYS)
    elif path.suffix == ".tsv":
        rows = csv.reader(io.StringIO(text), delimiter="\t")
        yield from (cell for row in rows for cell in row if _is_sentence(cell))


def _is_sentence(cell: str) -> bool:
    return cell.endswith(".") and cell.count(" ") > 3


def _python(text: str, strings: bool) -> Iterator[str]:
    nodes = [*ast.walk(ast.parse(text))]
    documented = [node for node in nodes if isinstance(node, DOCUMENTED)]
    yield from filter(None, map(ast.get_docstring, documented))
    yield from _comments(text)
    if strings:
        yield from _strings(nodes)


def _comments(text: str) -> Iterator[str]:
    """Comments on neighbouring lines are one paragraph."""
    if "#" not in text:  # many files have none, and tokens are slow to read
        return
    held: list[str] = []
    before = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != before + 1:
                yield " ".join(held)
                held = []
            held.append(token.string.lstrip("#: "))
            before = token.start[0]
    yield " ".join(held)


def _strings(nodes: list[ast.AST]) -> Iterator[str]:
    """Strings of several words; what a formatted string fills in counts as one word."""
    inner = {id(part) for node in nodes for part in _parts(node)}
    for node in nodes:
        if id(node) not in inner:
            text = _text(node)
            if text.count(" ") > 3 and not _CODE.search(text):
                yield text


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.JoinedStr):
        yield from ast.walk(
            ast.Module(body=[ast.Expr(part) for part in node.values], type_ignores=[])
        )
    elif isinstance(node, DOCUMENTED) and node.body and isinstance(node.body[0], ast.Expr):
        yield node.body[0].value


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "CODE" for part in node.values)
    return ""


def _values(value: Any, keys: set[str]) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in keys and isinstance(inner, str):
                yield inner
            else:
                yield from _values(inner, keys)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner, keys)
