"""Which runs a command line names: files and folders, narrowed by patterns over run names."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from harness.cli.cassettes import planned_cassettes
from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import InputError, nearest
from harness.files import find_scenarios, load_scenarios
from harness.files.scenario_file import load_overlay, with_overlay
from harness.targets.spec import names, resolve

DEFAULT_FOLDER = Path("scenarios")


def plan(paths: Sequence[Path]) -> list[tuple[str, Scenario]]:
    """Every run of these files and folders with the path of its file; of ./scenarios without any.

    A cassette is a run of its own. Raises InputError for a file that cannot be used, and for two
    files with runs of one name.
    """
    played = planned_cassettes(paths)
    planned = [run for runs in played.values() for run in runs]
    if named := [path for path in paths or _default() if path not in played]:
        planned += [
            (str(path), scenario)
            for path in find_scenarios(named)
            for scenario in load_scenarios(path)
        ]
    seen: dict[str, str] = {}
    for path, scenario in planned:
        other = seen.setdefault(scenario.run_name, path)
        if other != path:
            raise InputError(f"the run {scenario.run_name!r} stands in {other} too", path)
    return planned


def _default() -> list[Path]:
    if not DEFAULT_FOLDER.is_dir():
        raise InputError("name a scenario file or a folder: there is no ./scenarios here")
    return [DEFAULT_FOLDER]


def narrow(
    planned: list[tuple[str, Scenario]], patterns: Sequence[str]
) -> list[tuple[str, Scenario]]:
    """The runs whose name matches one of the patterns; all of them without any.

    Raises InputError for a pattern that matches nothing.
    """
    known = [scenario.run_name for _, scenario in planned]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            raise InputError(f"no run of this name; {nearest(pattern, known)}", f"--only {pattern}")
    return [
        (path, scenario)
        for path, scenario in planned
        if not patterns or any(fnmatchcase(scenario.run_name, p) for p in patterns)
    ]


def on_wires(
    planned: list[tuple[str, Scenario]], wires: Sequence[str]
) -> list[tuple[str, Scenario]]:
    """The runs on one of these wires; all of them without any. InputError when there is none."""
    found = [(path, scenario) for path, scenario in planned if not wires or scenario.wire in wires]
    if not found:
        raise InputError("no run on this wire", f"--wire {' --wire '.join(wires)}")
    return found


def overlaid(
    planned: list[tuple[str, Scenario]], overlay: Path | None
) -> list[tuple[str, Scenario]]:
    """The runs with the faults of an overlay file, if one is given.

    Raises InputError for a file that cannot be used, or whose faults do not fit a run.
    """
    if overlay is None:
        return planned
    faults = load_overlay(overlay)
    return [(path, with_overlay(scenario, faults, str(overlay))) for path, scenario in planned]


def check_files(planned: list[tuple[str, Scenario]]) -> None:
    """Raise InputError unless every cassette and session file that a run names can be read."""
    from harness.core.scenario.scenario import CassetteScript
    from harness.runner.prepare import script_of
    from harness.runner.session import seed_messages

    for path, scenario in planned:
        try:
            if isinstance(scenario.script, CassetteScript):
                script_of(scenario)
            seed_messages(scenario)
        except InputError as error:
            raise InputError(str(error), path) from None


def check_target(target: str, planned: list[tuple[str, Scenario]]) -> None:
    """Raise InputError unless the target can be started, and every planned fault can reach it."""
    if not target:
        raise InputError(f"say which agent: {', '.join(names())}", "--target")
    from harness.runner.prepare import check_faults

    spec = resolve(target)
    for _, scenario in planned:
        check_faults(scenario, spec)
