"""The input of `shrink` and `why`: runs of a scenario file, or a run that was kept.

A kept run names its scenario. The file is looked up in ./scenarios, because only the file has the
settings of the faults. Without a file, a scenario is made of the history.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from harness.checks.judge import check_of, checks
from harness.cli.agent_runs import for_agent
from harness.cli.options import World
from harness.cli.selection import DEFAULT_FOLDER, plan
from harness.core.history.events import Started
from harness.core.history.history import History
from harness.core.scenario.scenario import Limits, Scenario
from harness.core.values.errors import InputError
from harness.core.values.profile import NO_PROFILE, Profile
from harness.files.bundle import catalogue
from harness.parts.loading import unknown_name
from harness.redaction.encoder import encoded
from harness.shrink.finding_oracle import NotShown
from harness.shrink.inlining import inlined
from harness.targets import TargetSpec
from harness.targets.spec import names, resolve

_ShownT = TypeVar("_ShownT")


class PlayRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What `shrink`, `why` and `fork` are all asked: which runs, under what, in which world."""

    source: Path
    only: tuple[str, ...] = ()
    profile: Profile = NO_PROFILE
    seed: int | None = None
    world: World | None = None


def scenarios_of(
    source: Path, only: Sequence[str], seed: int | None, agent: Profile, target: str
) -> list[Scenario]:
    """Return the selected runs, in the order of their file, each on a wire of the agent.

    Raises InputError for a path that is neither a scenario file nor a run.
    """
    if source.is_dir() or source.suffix == ".jsonl":
        found = [_of_run(source)]
    else:
        found = [scenario for _, scenario in for_agent(plan([source]), only, (), agent, target)]
    if seed is None:
        return found
    return [msgspec.structs.replace(scenario, seed=seed) for scenario in found]


def renamed(scenario: Scenario, name: str, title: str) -> Scenario:
    """Return the scenario under another name, as one that stands alone in its file."""
    return msgspec.structs.replace(scenario, name=kebab(name), title=title, variant="", folder="")


def under_profile(scenario: Scenario, profile: Profile) -> Scenario:
    """Return the scenario with the user's profile, else with the profile of the kept run."""
    given = profile if profile != NO_PROFILE else scenario.profile
    return msgspec.structs.replace(scenario, profile=given)


def whole_scenarios_of(
    source: Path, only: Sequence[str], seed: int | None, agent: Profile, target: str
) -> list[Scenario]:
    """Return the selected runs under the profile, with their other files inlined: each is a file of
    its own when it is written. Raises InputError as `scenarios_of` does."""
    found = scenarios_of(source, only, seed, agent, target)
    return [inlined(under_profile(scenario, agent)) for scenario in found]


def first_that_shows(
    runs: Sequence[Scenario], code: str, source: Path, look: Callable[[Scenario], _ShownT]
) -> _ShownT:
    """Return what `look` finds in the first run that shows the finding. Raises NotShown, with the
    codes that the runs have."""
    given: dict[str, None] = {}
    for scenario in runs:
        try:
            return look(scenario)
        except NotShown as error:
            given |= dict.fromkeys(error.given)
            if len(runs) == 1:
                raise
    raise NotShown(code, list(given), f"{source}: in {len(runs)} runs")


def checked_target(target: str, code: str, flag: str) -> TargetSpec:
    """Return the target, which is played in a forked child because a candidate may end its process.

    Raises InputError without a target, and for a code of no check, which `flag` has named.
    """
    if not target:
        raise InputError(f"name the agent: {', '.join(names())}", "--target")
    check, known = check_of(code), [*checks()]
    if check and check not in known:
        raise InputError(f"there is no check {check!r}; {unknown_name(check, known)}", flag)
    return msgspec.structs.replace(resolve(target), isolate=True)


def _of_run(run: Path) -> Scenario:
    from harness.cli.show import find
    from harness.runner.run_folder import read_history

    history = read_history(find(run))
    start = next((event for event in history.events if isinstance(event, Started)), None)
    if start is None:
        raise InputError("the history does not begin with `started`", str(run))
    if start.world == "recording":
        raise InputError("this is a recording: `harness import` makes a scenario of it", str(run))
    try:
        scenario = _on_file(start) or _made_of(history, start)
    except InputError as error:
        raise InputError(str(error), str(run)) from None
    return msgspec.structs.replace(scenario, seed=start.seed, profile=history.trace.profile)


def _on_file(start: Started) -> Scenario | None:
    name = f"{start.scenario}.yaml"
    for folder in filter(Path.is_dir, (DEFAULT_FOLDER, *catalogue())):
        files = sorted(folder.rglob(name))
        runs = plan(files) if files else []
        if found := next(
            (scenario for _, scenario in runs if scenario.run_name == start.run), None
        ):
            return found
    return None


def _made_of(history: History, start: Started) -> Scenario:
    """Build a scenario from a history, with the run's own checks and limits."""
    from harness.cli import terminal
    from harness.files.owner import scratch_folder
    from harness.files.scenario_text import scenario_text
    from harness.recordings.importing.dialogue import dialogue_of_history
    from harness.recordings.importing.fidelity import GapLog
    from harness.recordings.importing.scenario_document import import_dialogue

    name = kebab(start.scenario) or "run"
    made = import_dialogue(
        dialogue_of_history(history),
        name=name,
        title=f"Made of the run {start.run}",
        source=[],
        fired=[],
        at=None,
        account=GapLog(),
    )
    terminal.note(f"no ./scenarios with the run {start.run!r}: a scenario is made of its history")
    for line in made.fidelity.lines():
        terminal.note(f"  {line}")
    with scratch_folder() as folder:
        file = folder / f"{name}.yaml"
        file.write_bytes(encoded(scenario_text(made.document)))
        [(_, scenario)] = plan([file])
    settings = start.settings
    limits = msgspec.convert(settings.get("limits") or {}, type=Limits)
    return msgspec.structs.replace(
        scenario,
        checks=settings.get("checks") or {},
        limits=limits,
        window_tokens=settings.get("window_tokens"),
        folder="",
    )


def kebab(text: str) -> str:
    """Return a text in kebab case, like the names of scenarios.

    >>> kebab("no_progress_stop.same_call")
    'no-progress-stop-same-call'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
