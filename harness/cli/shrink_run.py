"""Does the work of `shrink`: finds the run with the finding, reduces it, and writes it.

The written file is played to confirm the result. Ctrl-C keeps the smallest scenario so far.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harness.checks.judge import check_of, checks
from harness.cli import terminal
from harness.cli.interrupts import deferred
from harness.cli.shrink_report import ShrinkRequest, ShrinkResult, line, text
from harness.cli.shrink_source import kebab, scenarios_of
from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import InputError
from harness.core.values.profile import NO_PROFILE, Profile
from harness.files import load_scenarios
from harness.files.regular_file import write_atomically
from harness.files.scenario_text import scenario_yaml
from harness.parts.loading import unknown_name
from harness.redaction.encoder import encoded
from harness.results.event_lines import two_figures
from harness.runner import run
from harness.runner.run_folder import move_kept
from harness.shrink import FindingOracle, ShrinkStep, Shrunk, shrink
from harness.shrink.finding_oracle import NotShown
from harness.shrink.inlining import inlined
from harness.shrink.scenario_size import size_of
from harness.targets.spec import names, resolve

if TYPE_CHECKING:
    from harness.targets import TargetSpec

UNKNOWN = 3


def shrink_source(asked: ShrinkRequest) -> int:
    """Shrink, write and report; return the exit status."""
    begun_s = time.monotonic()
    runs = _runs(asked)  # first, because importing the target may change the folder
    spec = _check(asked)
    with redirect_stdout(sys.stderr):
        scenario, keeping = _first_that_shows(asked, runs, spec)
        run_s = _announce(asked, scenario, keeping)
        end_s = None if asked.minutes is None else begun_s + 60 * asked.minutes - 2 * run_s
        result, stop = _shrunk(asked, scenario, keeping, end_s)
        try:
            if stop is None:
                result = _played_again(result, spec)
        except KeyboardInterrupt as error:
            result, stop = msgspec.structs.replace(result, interrupted=True), error
    with deferred():
        terminal.out(line(result) if asked.as_json else "\n".join(text(result)))
    if stop is not None:
        raise stop
    return 0 if result.repeats else UNKNOWN


def _check(asked: ShrinkRequest) -> TargetSpec:
    if not asked.target:
        raise InputError(f"name the agent: {', '.join(names())}", "--target")
    check, known = check_of(asked.keep), [*checks()]
    if check and check not in known:
        raise InputError(f"there is no check {check!r}; {unknown_name(check, known)}", "--keep")
    # A candidate may end its process, so it runs in a forked child.
    return msgspec.structs.replace(resolve(asked.target), isolate=True)


def _runs(asked: ShrinkRequest) -> list[Scenario]:
    """Return the selected runs, with their other files inlined."""
    runs = scenarios_of(asked.source, asked.only, asked.seed)
    return [inlined(_under_profile(run, asked.profile).failing_on(asked.fail_on)) for run in runs]


def _first_that_shows(
    asked: ShrinkRequest, runs: list[Scenario], spec: TargetSpec
) -> tuple[Scenario, FindingOracle]:
    """Return the first run with the finding. Raises NotShown."""
    shown: dict[str, None] = {}
    for scenario in runs:
        try:
            kept = FindingOracle(scenario, spec, asked.keep, world=asked.world, store=asked.store)
        except NotShown as error:
            shown |= dict.fromkeys(error.given)
            if len(runs) == 1:
                raise
            continue
        return scenario, kept
    raise NotShown(asked.keep, list(shown), f"{asked.source}: in {len(runs)} runs")


def _under_profile(scenario: Scenario, profile: Profile) -> Scenario:
    """Return the scenario with the user's profile, else with the profile of the kept run."""
    given = profile if profile != NO_PROFILE else scenario.profile
    return msgspec.structs.replace(scenario, profile=given)


def _announce(asked: ShrinkRequest, scenario: Scenario, keeping: FindingOracle) -> float:
    """Print the finding to keep; return the seconds of real time that a run takes."""
    finding = keeping.finding
    if finding.code != asked.keep:
        terminal.note(f"the finding to keep is {finding.code}: {finding.message}")
    if keeping.world != "supervise":
        return 0.0
    began_s = time.monotonic()
    keeping(scenario)
    run_s = time.monotonic() - began_s
    terminal.note(
        f"runs are in real time, {run_s:.1f} s each so far; shrinking takes dozens of them up "
        "to some hundreds. Ctrl-C or --minutes keeps the smallest scenario so far"
    )
    return run_s


class _TimeOver(Exception):
    """The time of the command is over."""


def _shrunk(
    asked: ShrinkRequest, scenario: Scenario, keeping: FindingOracle, end_s: float | None
) -> tuple[ShrinkResult, KeyboardInterrupt | None]:
    """Shrink and write; return the result and the interrupt, if any.

    No candidate begins after `end_s` (monotonic)."""
    last = ShrinkStep(best=scenario, tried=0, kept=0, is_kept=False)
    stop: KeyboardInterrupt | None = None
    late = False

    def keeps(candidate: Scenario) -> bool:
        if end_s is not None and time.monotonic() >= end_s:
            raise _TimeOver
        return keeping(candidate)

    def seen(step: ShrinkStep) -> None:
        nonlocal last
        last = step
        advance(step)

    with _bar(scenario) as advance:
        try:
            shrunk = shrink(scenario, keeps, seen)
        except KeyboardInterrupt as error:
            stop = error
            shrunk = Shrunk(last.best, last.tried, last.kept, minimal=False)
        except _TimeOver:
            late = True
            shrunk = Shrunk(last.best, last.tried, last.kept, minimal=False)
    after = _named(shrunk.scenario, scenario, keeping.finding.code)
    file = _file_of(asked, after)
    head = [f"harness shrink of {scenario.run_name}: {keeping.finding.code}"]
    try:
        with deferred():
            write_atomically(file, encoded(scenario_yaml(after, head)))
    except KeyboardInterrupt as error:
        stop = stop or error
    result = ShrinkResult(
        asked=asked, before=scenario, after=after, keeping=keeping, shrunk=shrunk, file=file,
        interrupted=stop is not None, late=late,
    )  # fmt: skip
    return result, stop


def _file_of(asked: ShrinkRequest, small: Scenario) -> Path:
    """Return the file for the small scenario. Raises InputError if it is the given one."""
    file, source = asked.start / asked.out / f"{small.name}.yaml", asked.start / asked.source
    if file.exists() and source.exists() and file.samefile(source):
        what = "--out is the folder of the scenario itself: choose another folder"
        raise InputError(what, str(asked.out / file.name))
    return file


def _named(small: Scenario, whole: Scenario, code: str) -> Scenario:
    return msgspec.structs.replace(
        small,
        name=kebab(f"{whole.name}-{code.partition('.')[2] or code}"),
        title=f"Shrunk from {whole.run_name}: {code}",
        variant="",
        folder="",
    )


def _played_again(result: ShrinkResult, spec: TargetSpec) -> ShrinkResult:
    """Play the written file; return the result with its outcome."""
    asked = result.asked
    (again,) = load_scenarios(result.file)
    again = _under_profile(again, result.before.profile)
    played = run(
        again, spec, world=asked.world, store=asked.store, keep=asked.keep_session, capture="fd"
    )
    repeats = result.keeping.is_shown(played)
    if played.kept is None:
        return msgspec.structs.replace(result, repeats=repeats)
    kept = result.file.with_suffix(".session")
    move_kept(played.kept, kept)
    return msgspec.structs.replace(result, repeats=repeats, kept=str(asked.out / kept.name))


_EVERY_S = 10.0
"""The interval of progress lines if there is no progress bar."""


def _lines(scenario: Scenario) -> Callable[[ShrinkStep], None]:
    """Print the state in a line every ten seconds, with the rate."""
    total, begun_s = size_of(scenario).things, time.monotonic()
    said_s = begun_s

    def advance(step: ShrinkStep) -> None:
        nonlocal said_s
        now_s = time.monotonic()
        if now_s - said_s >= _EVERY_S:
            said_s = now_s
            left, rate = size_of(step.best).things, step.tried / (now_s - begun_s)
            terminal.note(
                f"{left} of {total} parts left, {step.tried} candidates, {two_figures(rate)}/s"
            )

    return advance


@contextmanager
def _bar(scenario: Scenario) -> Iterator[Callable[[ShrinkStep], None]]:
    if not sys.stderr.isatty():
        yield _lines(scenario)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    total = size_of(scenario).things
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}")
    with Progress(
        *columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("shrinking", total=total, said="")

        def advance(step: ShrinkStep) -> None:
            left = size_of(step.best).things
            said = f"{left} of {total} parts left, {step.tried} candidates"
            bar.update(task, completed=total - left, said=said)

        yield advance
