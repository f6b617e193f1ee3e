"""The folders of which the user has said that they are his: their plug-ins run with any verb.

The list is kept below the user's own configuration folder, never in a folder that it names: that
one may come from a stranger. A folder is trusted by its whole path, not with the folders below it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from harness.core.values.errors import InputError
from harness.files.regular_file import text_of, write_atomically


def list_file() -> Path:
    """The file with one path a line, each as a JSON text.

    Raises InputError where the user has no configuration folder of an absolute path. A relative
    XDG_CONFIG_HOME is left out, as its standard asks: it would name a place in the start folder.
    """
    named = os.environ.get("XDG_CONFIG_HOME", "")
    folder = named if os.path.isabs(named) else os.path.join(os.path.expanduser("~"), ".config")
    if not os.path.isabs(folder):
        raise InputError("HOME names no absolute path, so nothing can be kept there", "--trust")
    return Path(folder, "loop-harness", "trusted-folders.jsonl")


def is_trusted(folder: Path) -> bool:
    """Whether the user trusts this folder; raises InputError for a list that cannot be read."""
    try:
        file = list_file()
    except InputError:
        return False
    return not _is_inside(file, folder) and _line(folder) in _lines(file)


def set_trust(folder: Path, is_ours: bool) -> Path:
    """Put a folder on the list, or take it off; return the list.

    Raises InputError where the list cannot be kept, and for a folder that holds the list itself.
    """
    file = list_file()
    if is_ours and _is_inside(file, folder):
        what = (
            f"the list of trusted folders is kept in this one ({file}): name plug-ins by --plugin"
        )
        raise InputError(what, "--trust")
    others = [line for line in _lines(file) if line != _line(folder)]
    lines = [*others, _line(folder)] if is_ours else others
    write_atomically(file, "".join(f"{line}\n" for line in lines).encode())
    return file


def _lines(file: Path) -> list[str]:
    return text_of(file).splitlines() if file.exists() else []


def _line(folder: Path) -> str:
    return json.dumps(os.path.realpath(folder))


def _is_inside(file: Path, folder: Path) -> bool:
    return Path(os.path.realpath(file)).is_relative_to(os.path.realpath(folder))
