"""The generated part of docs/api.md: the public names, their signatures and docstrings."""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.generated_pages import DOCS, write_page

PUBLIC = (
    "harness",
    *(f"harness.{name}" for name in ("faults", "checks", "recordings", "stores")),
    *(f"harness.{name}" for name in ("strategies", "contracts", "agent", "adapters")),
)
"""The modules that a user imports; every other one is the package's own."""

LONG = 40
"""Letters of a default that is shown."""

_MODULES = re.compile(r"\b(?:[a-z_0-9]+\.)+(?=[A-Z])")
_QUOTED = re.compile(r"(?<=[:>] )(['\"])(.+?)\1(?=,| =|\)|$)")
"""An annotation that is kept as a text; a default is one behind `=`."""


def generated_api() -> str:
    """A section a module; a name that several modules share stands with the first one."""
    seen: dict[int, str] = {}
    return "\n".join(_module(name, seen) for name in PUBLIC)


def _module(name: str, seen: dict[int, str]) -> str:
    module = importlib.import_module(name)
    parts = [f"## {name}", _opening(module)]
    again = []
    for public in module.__all__:
        value = getattr(module, public)
        if id(value) in seen:
            again.append(f"`{public}` ({seen[id(value)]})")
            continue
        seen[id(value)] = name
        parts += _entry(public, value)
    if again:
        parts.append(_filled(f"Also here: {', '.join(again)}."))
    return "\n\n".join(filter(None, parts)) + "\n"


def _entry(name: str, value: Any) -> Iterator[str]:
    yield f"### {name}"
    if callable(value):
        yield f"`{name}{_arguments(value)}`"
        yield _text(inspect.getdoc(value))
    if inspect.isclass(value):
        methods = ((n, m) for n, m in vars(value).items() if inspect.isfunction(m))
        yield "\n".join(_method(n, m) for n, m in methods if not n.startswith("_"))


def _method(name: str, method: Any) -> str:
    first = (inspect.getdoc(method) or "").partition("\n\n")[0]
    arguments = _arguments(method).replace("(self, ", "(").replace("(self)", "()")
    return _filled(f"- `{name}{arguments}`: {_text(first)}", "  ")


def _arguments(value: Any) -> str:
    """The signature, with types as an import names them."""
    if getattr(value, "_is_protocol", False):
        return ""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    short = [p.replace(default=_default(p.default)) for p in signature.parameters.values()]
    return _QUOTED.sub(r"\2", _MODULES.sub("", str(signature.replace(parameters=short))))


def _default(value: Any) -> Any:
    """A default that reads well: a function has its name, a long value is left out."""
    if value is inspect.Parameter.empty or (len(repr(value)) < LONG and "<" not in repr(value)):
        return value
    return _Name(getattr(value, "__name__", "…").replace("<lambda>", "…"))


class _Name:
    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _opening(module: Any) -> str:
    return _text((module.__doc__ or "").partition("\n\n")[0])


def _text(doc: str | None) -> str:
    """The sentences of a docstring; its examples are those of the pages, which a test runs."""
    paragraphs = (doc or "").strip().split("\n\n")
    return "\n\n".join(_filled(p) for p in paragraphs if not p.startswith("    "))


def _filled(text: str, indent: str = "") -> str:
    whole = " ".join(text.split())
    return textwrap.fill(whole, 100, subsequent_indent=indent, break_on_hyphens=False)


def main(docs: Path = DOCS) -> None:
    """Write the page."""
    write_page(docs / "api.md", generated_api())


if __name__ == "__main__":
    main()
