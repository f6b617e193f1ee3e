"""The public names of a package, each imported when it is first used.

A public package lists its names once, in a block for type checkers:

    TYPE_CHECKING = False
    if TYPE_CHECKING:
        from harness.core.values.messages import Text as Text
    else:
        from harness.lazy_names import lazy_names

        __getattr__, __dir__ = lazy_names(__name__)

So `import harness` is cheap, and there is no second list of names that could differ.
"""

from __future__ import annotations

import sys

# `python -m` puts the current folder first on the path, and this module is imported before that is
# put right. So nothing is imported here that the interpreter has not loaded by itself.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def lazy_names(package: str, *own: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions `__getattr__` and `__dir__` of a package.

    `own` are the public names that the package defines itself; they belong to its `__all__`.
    """

    known: dict[str, str] = {}

    def homes() -> dict[str, str]:
        if not known:
            known.update(_listed(package))
        return known

    def get(name: str) -> Any:
        if name == "__all__":
            return sorted({*homes(), *own})
        if name.startswith("__") or name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        home = import_module(homes()[name])
        value = getattr(home, name, None) or import_module(f"{home.__name__}.{name}")
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes()})

    return get, names


def _listed(package: str) -> list[tuple[str, str]]:
    """Return each name that the type-checker block exports (`X as X`), and its home."""
    import ast
    import inspect

    source = inspect.getsource(sys.modules[package])
    return [
        (name.name, node.module)
        for block in ast.parse(source).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for name in node.names
        if name.asname == name.name
    ]
