"""The input files of `judge`: the named ones, and every file below a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.core.values.errors import InputError
from harness.files.regular_file import FoundFile, files_below, head_of
from harness.report.media.text import EACH_RUN, REPORT


def files(paths: Sequence[Path]) -> Iterator[FoundFile]:
    """Yield each file once, in order. Raises InputError for a path that does not exist."""
    for path in paths:
        if not path.exists():
            raise InputError("no such file or folder", str(path))
    seen: set[str] = set()
    for path in paths:
        itself = FoundFile(os.fspath(path), named=True)
        for found in _below(itself.path) if path.is_dir() else [itself]:
            if len(paths) == 1:
                yield found
            elif found.path not in seen:
                seen.add(found.path)
                yield found


def _below(folder: str) -> Iterator[FoundFile]:
    return (
        found
        for found in files_below(folder)
        if not _is_verdict(found.path) and not _is_report(found.path)
    )


def _is_report(path: str) -> bool:
    """Whether a file is what `harness run` writes of many runs."""
    if os.path.basename(path) != REPORT:
        return False
    try:
        return head_of(Path(path)).startswith(EACH_RUN.encode())
    except InputError:
        return False


def _is_verdict(path: str) -> bool:
    folder, name = os.path.split(path)
    return name == "verdict.json" and os.path.exists(os.path.join(folder, "history.jsonl"))
