"""What a file's syntax says about its places: which can matter, and the lines that run them.

cosmic-ray reads tokens. It takes the `*` of an argument list for a product, and the `|` of an
annotation for a union of values. Such mutants are noise: Python refuses them, or never reads them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

Position = tuple[int, int]
"""A line, counted from 1, and a column, counted from 0."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Span(NamedTuple):
    """A part of a file, from a position to the one behind it."""

    start: Position
    end: Position

    def __contains__(self, position: object) -> bool:
        return isinstance(position, tuple) and self.start <= position < self.end


class Places:
    """The places of one file."""

    def __init__(self, text: str) -> None:
        tree = ast.parse(text)
        self._products = [span for node in ast.walk(tree) for span in _operators(node)]
        self._unread = [_span(node) for node in _unread(tree)]
        self._statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
        self._functions = [range(n.body[0].lineno, _last(n) + 1) for n in _functions(tree)]

    def is_read(self, position: Position) -> bool:
        """Whether Python evaluates what stands there when the product runs."""
        return not any(position in span for span in self._unread)

    def is_operator(self, position: Position) -> bool:
        """Whether the sign there computes a value of two others."""
        return any(position in span for span in self._products)

    def lines(self, line: int) -> range:
        """The lines of the statement that the line belongs to; of a block, only its head."""
        found = [head for node in self._statements if line in (head := _head(node))]
        return min(found, key=len) if found else range(line, line + 1)

    def runs_at_import(self, line: int) -> bool:
        """Whether the line runs when the file is imported, and in no test of its own."""
        return not any(line in body for body in self._functions)


def _operators(node: ast.AST) -> Iterator[Span]:
    if isinstance(node, ast.BinOp):
        yield Span(_span(node.left).end, _span(node.right).start)


def _unread(tree: ast.Module) -> Iterator[ast.expr | ast.stmt]:
    """Annotations, which stay text, and imports for the type checker alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield node
        if isinstance(node, FUNCTIONS) and node.returns:
            yield node.returns
        if isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation:
            yield node.annotation


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            yield node


def _span(node: ast.expr | ast.stmt) -> Span:
    return Span((node.lineno, node.col_offset), (_last(node), node.end_col_offset or 0))


def _last(node: ast.expr | ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _head(node: ast.stmt) -> range:
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return range(node.lineno, _last(node) + 1)
    first = body[0].pattern if isinstance(body[0], ast.match_case) else body[0]
    return range(node.lineno, max(first.lineno, node.lineno + 1))
