"""Scenario files as test items: one for each run, `greeting.yaml::baseline@openai-chat+stream`.

A YAML file is collected only if a pattern of `harness_scenarios` or the command line names it.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.visible_text import visible
from harness.files.bundle import MARK, bundled, shown

if TYPE_CHECKING:
    from harness.core.scenario.scenario import Scenario

SUFFIXES = (".yaml", ".yml")
KEY = "harness_scenarios"

TARGETLESS = (
    "name the agent that plays it: --harness-target, the ini key harness_target, or `target` in "
    "[tool.harness]"
)

Runs = Callable[[Path], Sequence[tuple["Scenario", ...]]]
"""Returns the runs of a scenario file, those of one item together, which differ in their wire only;
raises InputError for an unusable one."""


class ScenarioFile(pytest.File):
    """A scenario file; a mistake in it is one error of the collection, with its line."""

    def __init__(self, *, runs: Runs, play: Callable[[ScenarioItem], object], **rest: Any) -> None:
        super().__init__(**rest)
        self._runs, self._play = runs, play

    def collect(self) -> Iterator[ScenarioItem]:
        """Yield the runs of the file, each as an item."""
        from harness.verdicts.result import label

        try:
            runs = self._runs(self.path)
        except InputError as error:
            raise self.CollectError(visible(f"error: {error}")) from None
        for each in runs:
            name = label(each[0].run_name, each[0].name)
            yield ScenarioItem.from_parent(self, name=name, runs=each, play=self._play)


class ScenarioItem(pytest.Item):
    """A run of a scenario file, on one of its wires. It fails like a test with `play`."""

    def __init__(
        self, *, runs: tuple[Scenario, ...], play: Callable[[ScenarioItem], object], **rest: Any
    ) -> None:
        super().__init__(**rest)
        self.runs, self._play = runs, play
        self.add_marker("harness")

    def runtest(self) -> None:
        """Play the run against the configured agent."""
        self._play(self)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the file, and the headline of a failure: the scenario's name and the run's."""
        return self.path, None, f"{self.runs[0].name}::{self.name}"


def matched(patterns: Iterable[str], root: Path) -> frozenset[Path]:
    """Return the scenario files that patterns name from the root folder; of a folder all below it.

    Raises InputError for a pattern that names none.
    """
    found: set[Path] = set()
    for pattern in patterns:
        these = {path for hit in _hits(pattern, root) for path in _scenarios_of(hit)}
        if not these:
            what = f"{pattern!r} matches no scenario file (a *.yaml with `script:`) below {root}"
            raise InputError(what, KEY)
        found |= these
    return frozenset(found)


def _hits(pattern: str, root: Path) -> list[Path]:
    if is_bundled(pattern):
        return [*bundled(pattern)]
    found = glob.glob(pattern, root_dir=root, recursive=True, include_hidden=True)
    return [Path(os.path.abspath(root / hit)) for hit in found]


def _scenarios_of(path: Path) -> list[Path]:
    from harness.files import find_scenarios
    from harness.files.scenario_file import has_script

    if path.is_dir():
        try:
            return find_scenarios([path])
        except InputError:
            return []
    return [path] if path.suffix in SUFFIXES and has_script(path) else []


def is_bundled(pattern: str) -> bool:
    """Whether a pattern is a bundled name, such as `@loops`."""
    return pattern.startswith(MARK)


def folders_of(patterns: Iterable[str], root: Path, named: Sequence[str]) -> list[str]:
    """Return the folders and files that pytest must walk for the patterns, beside those `named`."""
    starts = dict.fromkeys(Path(os.path.abspath(root / _fixed(pattern))) for pattern in patterns)
    walked = [Path(os.path.abspath(word.partition("::")[0])) for word in named]
    return [str(start) for start in starts if not any(map(start.is_relative_to, walked))]


def unwalked(files: Iterable[Path], seen: Iterable[Path]) -> str:
    """Return the warning on files that pytest did not walk, such as those of a hidden folder."""
    missed = sorted({*files} - {*seen})
    if not missed:
        return ""
    what = f"{missed[0]} is not collected" + (f", nor {len(missed) - 1} more" if missed[1:] else "")
    return f"{KEY}: {what}: pytest does not walk the folder; name it in `testpaths`"


def node_name(path: Path, root: Path) -> str:
    """Return the first part of the ids of a file's items: its path, or `@NAME` if bundled."""
    if path.is_relative_to(root):
        return path.relative_to(root).as_posix()
    short = shown(path)
    return short if short != str(path) else os.path.relpath(path, root)


def _fixed(pattern: str) -> str:
    """Return the part of a pattern before its first wildcard."""
    parts = Path(pattern).parts
    plain = next((n for n, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    return str(Path(*parts[:plain]))


def is_named(path: Path, collector: pytest.Collector, has_target: bool) -> bool:
    """Whether the command line names a file that is meant as a scenario."""
    if path.suffix not in SUFFIXES or not collector.session.isinitpath(path):
        return False
    from harness.files.scenario_file import has_script

    return has_target or has_script(path)
