"""Cassettes that a command line names: each is a scenario of its own, one for each API it speaks.

A file is a cassette by its content. A folder's cassettes are played when it holds no scenario, for
beside scenarios they are what those play.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.core.errors import InputError
from harness.core.scenario import Scenario

_ENDINGS = (".yaml", ".yml", ".json", ".jsonl")


def cassettes_of(path: Path) -> list[Path]:
    """The cassettes that a path names: itself, or those of a folder without scenarios."""
    if path.is_dir():
        from harness.load.scenario_file import has_script

        inside = sorted(p for p in path.rglob("*") if p.suffix in _ENDINGS and p.is_file())
        if any(p.suffix == ".yaml" and has_script(p) for p in inside):
            return []
        return [p for p in inside if _is_cassette(p)]
    return [path] if path.is_file() and _is_cassette(path) else []


def _is_cassette(path: Path) -> bool:
    from harness.cassettes.read import is_cassette

    try:
        return is_cassette(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", str(path)) from None


def scenarios_of(path: Path, root: Path) -> Iterator[Scenario]:
    """The scenarios of a cassette file, named by its path below `root`.

    Raises InputError, naming the file, for one that cannot be played.
    """
    from harness.cassettes.replay import indexes
    from harness.cassettes.scenario import kebab, scenario_of_cassette

    below = path.relative_to(root) if path != root else Path(path.name)
    name = kebab("-".join((*below.parts[:-1], below.name.partition(".")[0])))
    for wire, index in indexes(path).items():
        yield scenario_of_cassette(index, path, wire, name)


def planned_cassettes(paths: Sequence[Path]) -> dict[Path, list[tuple[str, Scenario]]]:
    """The runs of the cassettes that these paths name, by the path that names them."""
    return {
        path: [(str(file), run) for file in files for run in scenarios_of(file, path)]
        for path in paths
        if (files := cassettes_of(path))
    }
