"""Cassettes that a command line names: each is a scenario of its own, one for each API it speaks.

A file is a cassette by its content. A folder's cassettes are played when it holds no scenario, for
beside scenarios they are what those play.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import InputError

_ENDINGS = (".yaml", ".yml", ".json", ".jsonl")


def cassettes_of(path: Path) -> list[Path]:
    """The cassettes that a path names: itself, or those of a folder without scenarios."""
    if path.is_dir():
        from harness.files.scenario_file import has_script

        inside = sorted(p for p in path.rglob("*") if p.suffix in _ENDINGS and p.is_file())
        if any(p.suffix == ".yaml" and has_script(p) for p in inside):
            return []
        return [p for p in inside if not _leads_out(p, path) and _is_cassette(p)]
    return [path] if path.exists() and _is_cassette(path, named=True) else []


def _leads_out(path: Path, folder: Path) -> bool:
    """Whether a link leads out of the folder in which it was found: told, and not played."""
    if not path.is_symlink() or path.resolve().is_relative_to(folder.resolve()):
        return False
    from harness.cli import terminal

    terminal.note(f"{path}: a link out of the folder, not followed")
    return True


def _is_cassette(path: Path, *, named: bool = False) -> bool:
    """Whether a file is one; InputError for one that cannot be read, or was `named` in vain."""
    from harness.cassettes.cassette_file import is_cassette
    from harness.files.regular_file import head_of, whole
    from harness.recordings.json_documents import UTF16, is_json

    head = head_of(path)
    is_wide = head.startswith(UTF16)
    if b"\0" in head and not is_wide:
        return False
    if not is_wide and is_cassette(head):
        return True
    data = whole(path)
    try:
        if is_cassette(data):
            return True
    except InputError as error:
        raise InputError(error.what, str(path)) from None
    if named and not data.strip():
        raise InputError("the file is empty", str(path))
    if named and is_json(data):
        _refuse_recording(path, data)
    return False


def _refuse_recording(path: Path, data: bytes) -> None:
    """Raise InputError for a recording that can be imported, and is no cassette."""
    from harness.recordings.recognition import format_named, format_of

    try:
        title = format_named(format_of(data)).title
    except InputError:
        return
    what = f"a recording ({title}): `harness import` makes a scenario of it"
    raise InputError(what, str(path))


def scenarios_of(path: Path, root: Path) -> Iterator[Scenario]:
    """The scenarios of a cassette file, named by its path below `root`.

    Raises InputError, naming the file, for one that cannot be played.
    """
    from harness.cassettes.cassette_player import indexes
    from harness.cassettes.cassette_scenario import kebab, scenario_of_cassette

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
