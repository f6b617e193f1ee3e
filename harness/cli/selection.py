"""Selects the runs of a command line: scenario files, cassettes and folders, narrowed by options.

A cassette is known by its content; it is one scenario for each of its APIs. In a folder with
scenarios, cassettes are their inputs and are not played by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from harness.cli.options import catalogue, files_from
from harness.comparison.writings import writings
from harness.core.scenario.scenario import DEFAULT_WIRE, CassetteScript, Scenario
from harness.core.values.errors import InputError, nearest
from harness.core.values.profile import Profile
from harness.core.values.verdict import FindingClass
from harness.files import find_scenarios, load_scenarios
from harness.files.bundle import named_path, shown
from harness.files.regular_file import files_below, head_of, whole
from harness.files.scenario_file import has_script, load_overlay, with_overlay
from harness.targets.spec import names, resolve

DEFAULT_FOLDER = Path("scenarios")
_HINT = "`harness list scenarios` lists the bundled ones, such as @loops"


def plan(paths: Sequence[Path]) -> list[tuple[str, Scenario]]:
    """Return every run of these files and folders with its path; without any, of ./scenarios.

    A cassette is a separate run. Raises InputError for a file that cannot be used, and for two runs
    of one name.
    """
    from harness.cli import terminal

    played = planned_cassettes(paths)
    planned = [run for runs in played.values() for run in runs]
    if named := [path for path in paths or _default() if path not in played]:
        more = files_from()
        planned += [
            (shown(path), scenario)
            for path in find_scenarios(named, terminal.note)
            for scenario in load_scenarios(path, more)
        ]
    seen: dict[str, str] = {}
    for path, scenario in planned:
        other = seen.setdefault(scenario.run_name, path)
        if other != path:
            raise InputError(f"the run {scenario.run_name!r} is in {other} too", path)
    _tell_passed_over(run for _, run in planned)
    return planned


def _tell_passed_over(runs: Iterable[Scenario]) -> None:
    """Print the skipped entries of an archive, and why they are not played."""
    from harness.cassettes.cassette_file import archive_notes
    from harness.cli import terminal
    from harness.runner.session_seed import scenario_path

    seen: set[Path] = set()
    for run in runs:
        if not isinstance(run.script, CassetteScript):
            continue
        with suppress(InputError):  # playing the cassette reports its error
            path = scenario_path(run, run.script.cassette)
            notes = [] if path in seen else archive_notes(path)
            seen.add(path)
            for note in notes:
                terminal.note(f"{path}: {note}")


def _default() -> list[Path]:
    if found := default_paths():
        return found
    raise InputError(f"name a scenario or a folder: there is no ./scenarios here; {_HINT}")


def default_paths() -> list[Path]:
    """Return the default paths of a command: the configured catalogue, else ./scenarios."""
    configured = [named_path(path) for path in catalogue()]
    return configured or ([DEFAULT_FOLDER] if DEFAULT_FOLDER.is_dir() else [])


def narrow(
    planned: list[tuple[str, Scenario]], patterns: Sequence[str]
) -> list[tuple[str, Scenario]]:
    """Return the runs whose name matches one of the patterns; without patterns, all.

    Raises InputError for a pattern without a match.
    """
    known = [scenario.run_name for _, scenario in planned]
    for pattern in patterns:
        if not any(_is_named(run, pattern) for _, run in planned):
            raise InputError(f"no run of this name; {nearest(pattern, known)}", f"--only {pattern}")
    return [
        (path, run)
        for path, run in planned
        if not patterns or any(_is_named(run, pattern) for pattern in patterns)
    ]


def _is_named(run: Scenario, pattern: str) -> bool:
    """Whether a pattern names the run; without a wire it names the run on each."""
    anywhere = msgspec.structs.replace(run, wire=DEFAULT_WIRE).run_name
    names = [run.run_name] if "@" in pattern else [run.run_name, anywhere]
    return any(fnmatchcase(name, pattern) for name in names)


def on_wires(
    planned: list[tuple[str, Scenario]], wires: Sequence[str]
) -> list[tuple[str, Scenario]]:
    """Return the runs on one of these wires; without wires, all. Raises InputError for no run."""
    found = [(path, scenario) for path, scenario in planned if not wires or scenario.wire in wires]
    if not found:
        raise InputError("no run on this wire", f"--wire {' --wire '.join(wires)}")
    return found


def overlaid(
    planned: list[tuple[str, Scenario]], overlay: Path | None
) -> list[tuple[str, Scenario]]:
    """Return the runs with the faults of an overlay file, if one is given.

    Raises InputError for a file that cannot be used, or whose faults do not fit a run.
    """
    if overlay is None:
        return planned
    faults = load_overlay(overlay)
    return [(path, with_overlay(scenario, faults, str(overlay))) for path, scenario in planned]


def under_profile(
    planned: list[tuple[str, Scenario]], profile: Profile
) -> list[tuple[str, Scenario]]:
    """Return the runs with the profile of the agent that plays them."""
    return [(path, msgspec.structs.replace(run, profile=profile)) for path, run in planned]


def in_all_writings(planned: list[tuple[str, Scenario]]) -> list[tuple[str, Scenario]]:
    """Return the runs with their other writings, each run once."""
    named = {
        (path, written.run_name): (path, written)
        for path, run in planned
        for written in writings(run)
    }
    return list(named.values())


def failing_on(
    planned: list[tuple[str, Scenario]], fail_on: FindingClass | None
) -> list[tuple[str, Scenario]]:
    """Return the runs with this class as the least that fails; without one, unchanged."""
    return [(path, run.failing_on(fail_on)) for path, run in planned]


def check_files(planned: list[tuple[str, Scenario]]) -> None:
    """Raise InputError unless every cassette and session file that a run names can be read."""
    from harness.runner.prepare import script_of
    from harness.runner.session_seed import seed_messages

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
        raise InputError(f"name the agent: {', '.join(names())}", "--target")
    from harness.runner.prepare import check_faults

    spec = resolve(target)
    for _, scenario in planned:
        check_faults(scenario, spec)


_ENDINGS = (".yaml", ".yml", ".json", ".jsonl", ".har")


def cassettes_of(path: Path) -> list[Path]:
    """Return the cassettes of a path: itself, or those of a folder without scenarios."""
    if path.is_dir():
        return _cassettes_below(path)
    return [path] if path.exists() and _is_cassette(path, named=True) else []


def _cassettes_below(folder: Path) -> list[Path]:
    from harness.cli import terminal

    found = list(files_below(str(folder)))
    inside = [p for f in found if not f.refused and (p := Path(f.path)).suffix in _ENDINGS]
    if any(p.suffix == ".yaml" and has_script(p) for p in inside):
        return []
    cassettes = [p for p in inside if _is_cassette(p)]
    for file in found if cassettes else ():
        if file.refused:
            terminal.note(f"{file.path}: {file.refused}")
    return cassettes


def _is_cassette(path: Path, *, named: bool = False) -> bool:
    """Whether a file is a cassette. Raises InputError for an unreadable file.

    A named file also raises it if it is empty, or a recording that needs `import`.
    """
    from harness.cassettes.cassette_file import is_cassette
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
    """Raise InputError for a recording that needs `import` first."""
    from harness.recordings.recognition import format_named, format_of

    try:
        title = format_named(format_of(data)).title
    except InputError:
        return
    what = f"this is a recording ({title}): `harness import` makes a scenario of it"
    raise InputError(what, str(path))


def scenarios_of_cassette(path: Path, root: Path) -> Iterator[Scenario]:
    """Return the scenarios of a cassette file, named by its path below `root`.

    Raises InputError, which names the file, for one that cannot be played.
    """
    from harness.cassettes.cassette_player import indexes
    from harness.cassettes.cassette_scenario import kebab, scenario_of_cassette

    below = path.relative_to(root) if path != root else Path(path.name)
    name = kebab("-".join((*below.parts[:-1], below.name.partition(".")[0])))
    for wire, index in indexes(path).items():
        yield scenario_of_cassette(index, path, wire, name)


def planned_cassettes(paths: Sequence[Path]) -> dict[Path, list[tuple[str, Scenario]]]:
    """Return the runs of the cassettes that these paths name, by path."""
    return {path: _runs_of(path, files) for path in paths if (files := cassettes_of(path))}


def _runs_of(path: Path, files: Sequence[Path]) -> list[tuple[str, Scenario]]:
    """Return the runs of a path's files; in a folder, a cassette without a call is skipped."""
    from harness.cassettes.cassette_player import NoCalls
    from harness.cli import terminal

    planned: list[tuple[str, Scenario]] = []
    silent: list[NoCalls] = []
    for file in files:
        try:
            planned += [(shown(file), run) for run in scenarios_of_cassette(file, path)]
        except NoCalls as error:
            silent.append(error)
    if not planned and silent:
        raise silent[0]
    for one in silent:
        terminal.note(str(one))
    return planned


def single_run(path: Path, patterns: Sequence[str], wires: Sequence[str]) -> tuple[Scenario, int]:
    """Return the first selected run of a file, and the number of other selected runs.

    Raises InputError for a file that cannot be used, and when no run is selected.
    """
    planned = on_wires(narrow(plan([path]), patterns), wires)
    return planned[0][1], len(planned) - 1
