"""What the package contains: scenarios, cassettes, examples and docs, named after `@`.

`@loops` is a folder of scenarios, `@loops/circles` one scenario, and `@all` all of them.
`@cassettes/NAME`, `@examples/NAME` and `@docs/NAME` stand beside them. A name needs no ending. An
installed package holds the files in `harness/bundle`; in a source tree they stand beside the
package. The build step in setup.py takes the list of files from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import resources
from pathlib import Path

from harness.core.values.errors import InputError, nearest

MARK, ALL, FOLDER = "@", "@all", "bundle"
SCENARIOS = "scenarios"

_KINDS: dict[str, tuple[str, ...]] = {
    SCENARIOS: (".yaml", ".jsonl"),
    "cassettes": (".yaml", ".jsonl", ".md"),
    "examples": (".py", ".mjs", ".toml", ".md"),
    "docs": (".md", ".txt"),
}
"""The folders of the package with such files, and how the names of their files end."""

_LEFT_OUT = ("examples/__init__.py", "examples/agents/__init__.py", "examples/demo.py")
"""The demo plays the wrong agents of the tests, which are not in the package."""


def files_in(root: Path) -> Iterator[Path]:
    """The files of a source tree that the package contains, relative to it, in the order of their
    names."""
    for folder, endings in _KINDS.items():
        for path in sorted((root / folder).rglob("*")):
            below = path.relative_to(root)
            if path.suffix in endings and below.as_posix() not in _LEFT_OUT:
                yield below


def named_path(text: str) -> Path:
    """The path that a user names: one of the bundle after `@`, else a path of his own.

    Raises InputError, with the nearest names, for a name that the bundle does not have.
    """
    return bundled(text)[0] if text.startswith(MARK) else Path(text)


def bundled(name: str) -> tuple[Path, ...]:
    """The files and folders of a name, files first; `@examples/node_agent` is a file and a folder.

    Raises InputError, with the nearest names, for a name that does not exist.
    """
    known = _names()
    found = known.get(name.rstrip("/"), ())
    if not found:
        short = {_short(path) for paths in known.values() for path in paths}
        what = f"the package contains nothing of this name; {nearest(name, short)}"
        raise InputError(f"{what} (`harness list scenarios {ALL}`)", name)
    return found


def shown(path: Path) -> str:
    """A path as a command names it: `@loops/circles` for a file of the bundle."""
    root = _root() if path.is_absolute() else None
    if root is None or not path.is_relative_to(root):
        return str(path)
    return _short(path) if path in _names().get(_short(path), ()) else str(path)


def below_root(path: Path) -> Path:
    """Where a file of the bundle stands in the source tree."""
    root = _root()
    assert root is not None, "only the bundle has such a path"
    return path.relative_to(root)


def catalogue() -> tuple[Path, ...]:
    """The folder of the bundled scenarios; none where the package has no bundle."""
    return () if _root() is None else bundled(ALL)


def bundled_files(paths: Iterable[Path]) -> list[Path]:
    """The files that these files and folders of the bundle hold, each once."""
    every = [path for found in _names().values() for path in found if path.is_file()]
    return [
        file for file in dict.fromkeys(every) if any(file.is_relative_to(path) for path in paths)
    ]


def bundle_names() -> list[str]:
    """Every name without its ending; raises InputError for a package without the bundled files."""
    return [*dict.fromkeys(_short(path) for paths in _names().values() for path in paths)]


@lru_cache(maxsize=1)
def _root() -> Path | None:
    """The folder that holds the bundle; None in an archive, and without bundled files."""
    package = resources.files("harness")
    if not isinstance(package, Path):
        return None
    inside, beside = package / FOLDER, package.parent
    if inside.is_dir():
        return inside
    return beside if (beside / "pyproject.toml").is_file() else None


@lru_cache(maxsize=1)
def _names() -> dict[str, tuple[Path, ...]]:
    """The files and folders of each name, with its ending and without."""
    root = _root()
    if root is None:
        what = "this installation brings no scenarios: install the wheel, or a folder of the source"
        raise InputError(what, MARK)
    names: dict[str, dict[Path, None]] = {}
    folders: dict[Path, None] = {}
    for below in files_in(root):
        file = root / below
        names.setdefault(_short(file), {})[file] = None
        names.setdefault(f"{_parent(file)}/{file.name}", {})[file] = None
        folders |= dict.fromkeys(root / parent for parent in reversed(below.parents[:-1]))
    for folder in folders:
        names.setdefault(_short(folder), {})[folder] = None
    return {name: tuple(paths) for name, paths in names.items()}


def _short(path: Path) -> str:
    """The name of a file without its ending, or that of a folder."""
    name = path.name.partition(".")[0]
    parent = _parent(path)
    if parent == MARK:
        return ALL if name == SCENARIOS else f"{MARK}{name}"
    return f"{parent}/{name}"


def _parent(path: Path) -> str:
    first, *rest = below_root(path).parent.parts or ("",)
    if first == "":
        return MARK
    return MARK + "/".join(rest if first == SCENARIOS else (first, *rest))
