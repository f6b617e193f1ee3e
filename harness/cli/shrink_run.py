"""Does the work of `shrink`: finds the run with the finding, reduces it, writes it, and tells it.

The written file is played to confirm the result. Ctrl-C keeps the smallest scenario so far.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harness.cli import terminal
from harness.cli.interrupts import deferred
from harness.cli.reports import reporting
from harness.cli.shrink_source import (
    PlayRequest,
    checked_target,
    first_that_shows,
    renamed,
    under_profile,
    whole_scenarios_of,
)
from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.core.values.verdict import EXIT_STATUS, Finding, FindingClass
from harness.files import load_scenarios
from harness.files.regular_file import whole, write_atomically
from harness.files.scenario_text import scenario_yaml
from harness.redaction.encoder import encoded, json_line
from harness.runner import run
from harness.runner.run_folder import move_kept
from harness.shrink import FindingOracle, ShrinkStep, Shrunk, shrink
from harness.shrink.scenario_size import Extent, extent, size_of
from harness.verdicts.command_events import CommandFinished, CommandStarted, Event
from harness.verdicts.event_lines import counted, two_figures
from harness.verdicts.result import Invocation, Result, run_command, summarize

if TYPE_CHECKING:
    from harness.targets import TargetSpec


class ShrinkRequest(PlayRequest, frozen=True, kw_only=True):
    """The input and options of the command, and its folder; `again` are those that play a run."""

    again: Invocation
    keep: str = ""
    fail_on: FindingClass | None = None
    minutes: float | None = None
    keep_session: bool = False
    out: Path
    start: Path


class ShrinkResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of shrinking: the size before, the size left, and the file.

    `again` is the run of the file, None if an interrupt prevented it, and `repeats` says whether it
    shows the finding. `late`: the time was over before the scenario was minimal. `kept`: the path
    of the session folder of the last run, with `--keep-session`.
    """

    asked: ShrinkRequest
    before: Scenario
    after: Scenario
    keeping: FindingOracle
    shrunk: Shrunk
    file: Path
    interrupted: bool = False
    again: Result | None = None
    repeats: bool | None = None
    late: bool = False
    kept: str = ""

    @property
    def shown(self) -> str:
        """The file, with its folder as the user wrote it."""
        return str(self.asked.out / self.file.name)

    @property
    def command(self) -> str:
        """Return the command that plays the file."""
        again = msgspec.structs.replace(self.asked.again, path=self.shown)
        return run_command(again, self.after.run_name, self.after.seed)


def shrink_source(asked: ShrinkRequest, as_json: bool) -> int:
    """Shrink, write and report; return the exit status."""
    begun_s = time.monotonic()
    target, keep = asked.again.target, asked.keep
    # First, because importing the target may change the folder.
    named = whole_scenarios_of(asked.source, asked.only, asked.seed, asked.profile, target)
    runs = [scenario.failing_on(asked.fail_on) for scenario in named]
    spec = checked_target(target, keep, "--keep")

    def look(scenario: Scenario) -> tuple[Scenario, FindingOracle]:
        world, store = asked.world, asked.again.store
        return scenario, FindingOracle(scenario, spec, keep, world=world, store=store)

    with redirect_stdout(sys.stderr):
        scenario, keeping = first_that_shows(runs, keep, asked.source, look)
        run_s = _announce(asked, scenario, keeping)
        end_s = None if asked.minutes is None else begun_s + 60 * asked.minutes - 2 * run_s
        result, stop = _shrunk(asked, scenario, keeping, end_s)
        try:
            if stop is None:
                result = _played_again(result, spec)
        except KeyboardInterrupt as error:
            result, stop = msgspec.structs.replace(result, interrupted=True), error
    with deferred():
        failed = _tell(result, as_json)
    if stop is not None:
        raise stop
    return 0 if result.repeats and not failed else EXIT_STATUS["unknown"]


def _tell(result: ShrinkResult, as_json: bool) -> bool:
    """Tell the reports the run of the small scenario; return whether one of them failed."""

    def screen(event: Event) -> Iterator[str]:
        if isinstance(event, CommandFinished):
            yield from [json_line(event.totals)] if as_json else text(result)

    started = CommandStarted(verb="shrink", planned=((result.after.run_name, result.after.name),))
    with reporting(started, screen, interrupted=result.interrupted) as tell:
        if result.again:
            tell(result.again)
        tell.totals = row(result)
    return tell.has_failed


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
    """Shrink and write; return the result and the interrupt, if any."""
    shrunk, end = _smallest(scenario, keeping, end_s)
    stop = end if isinstance(end, KeyboardInterrupt) else None
    code = keeping.finding.code
    name = f"{scenario.name}-{code.partition('.')[2] or code}"
    after = renamed(shrunk.scenario, name, f"Shrunk from {scenario.run_name}: {code}")
    file = _file_of(asked, after)
    head = [f"harness shrink of {scenario.run_name}: {code}"]
    try:
        with deferred():
            write_atomically(file, encoded(scenario_yaml(after, head)))
    except KeyboardInterrupt as error:
        stop = stop or error
    result = ShrinkResult(
        asked=asked, before=scenario, after=after, keeping=keeping, shrunk=shrunk, file=file,
        interrupted=stop is not None, late=isinstance(end, _TimeOver),
    )  # fmt: skip
    return result, stop


def _smallest(
    scenario: Scenario, keeping: FindingOracle, end_s: float | None
) -> tuple[Shrunk, BaseException | None]:
    """Return the smallest scenario, and the error that ended the search early, if one did.

    No candidate begins after `end_s` (monotonic)."""
    last = ShrinkStep(best=scenario, tried=0, kept=0, is_kept=False)
    total, begun_s = size_of(scenario).things, time.monotonic()

    def words() -> str:
        rate = two_figures(last.tried / max(time.monotonic() - begun_s, 0.001))
        left = size_of(last.best).things
        return f"{left} of {total} parts left, {last.tried} candidates, {rate}/s"

    def keeps(candidate: Scenario) -> bool:
        if end_s is not None and time.monotonic() >= end_s:
            raise _TimeOver
        return keeping(candidate)

    def seen(step: ShrinkStep) -> None:
        nonlocal last
        last = step
        tell()

    with terminal.progress_line(words) as tell:
        try:
            return shrink(scenario, keeps, seen), None
        except (KeyboardInterrupt, _TimeOver) as error:
            return Shrunk(last.best, last.tried, last.kept, minimal=False), error


def _file_of(asked: ShrinkRequest, small: Scenario) -> Path:
    """Return the file for the small scenario. Raises InputError if it is the given one."""
    file, source = asked.start / asked.out / f"{small.name}.yaml", asked.start / asked.source
    if file.exists() and source.exists() and file.samefile(source):
        what = "--out is the folder of the scenario itself: choose another folder"
        raise InputError(what, str(asked.out / file.name))
    return file


def _played_again(result: ShrinkResult, spec: TargetSpec) -> ShrinkResult:
    """Play the written file; return the result with its outcome."""
    asked = result.asked
    (again,) = load_scenarios(result.file)
    again = under_profile(again, result.before.profile)
    played = run(
        again,
        spec,
        world=asked.world,
        store=asked.again.store,
        keep=asked.keep_session,
        capture="fd",
    )
    kept, repeats = "", result.keeping.is_shown(played)
    if played.kept:
        move_kept(played.kept, result.file.with_suffix(".session"))
        kept = str(asked.out / f"{result.file.stem}.session")
    made = summarize(played, msgspec.structs.replace(asked.again, path=result.shown))
    made = msgspec.structs.replace(made, kept=kept)
    made = made if repeats else made.doubted(_OTHERWISE)
    return msgspec.structs.replace(result, repeats=repeats, kept=kept, again=made)


_OTHERWISE = "the file does not show the finding: the agent behaves differently each time"


def text(result: ShrinkResult) -> Iterator[str]:
    """Return the report, with the text of the file, which is short."""
    finding, shrunk = result.keeping.finding, result.shrunk
    yield f"{finding.code} is kept: {finding.message}"
    yield f"  {_size(extent(result.before))} -> {_size(extent(result.after))}"
    yield f"  {shrunk.tried} candidates, {shrunk.kept} kept"
    if result.interrupted:
        yield "  interrupted: the smallest scenario so far, perhaps not the smallest possible"
        yield "  the file was not played again"
    elif result.late:
        yield "  the time is over: perhaps not the smallest possible"
    elif not shrunk.minimal:
        yield "  the limit of candidates is reached: perhaps not the smallest possible"
    if result.repeats is False:
        yield f"  {_OTHERWISE}"
    if result.kept:
        yield f"  session: {result.kept}"
    yield f"\n{result.shown}"
    yield from (f"  {said}".rstrip() for said in whole(result.file).decode().splitlines())
    yield f"\n  repeat: {result.command}"


def _size(size: Extent) -> str:
    nouns = ("turn", "fault", "message", "stored message", "tool")
    return ", ".join(counted(n, x) for n, x in zip(size, nouns, strict=True) if n) or "nothing"


def _shape(finding: Finding) -> str:
    """Return what the finding is known by while it is shrunk."""
    cause, at = finding.cause, finding.place
    crash = f"{at.error} in {at.function}" if at else cause.error
    words = ", ".join(filter(None, (crash, cause.tool, cause.subject)))
    return f"{finding.code}{f': {words}' if words else ''} ({finding.seam})"


def row(result: ShrinkResult) -> dict[str, Json]:
    """Return what came out, for a machine."""
    return {
        "name": result.before.run_name,
        "file": result.shown,
        "target": result.asked.again.target,
        "code": result.keeping.finding.code,
        "shape": _shape(result.keeping.finding),
        "before": extent(result.before)._asdict(),
        "after": extent(result.after)._asdict(),
        "tried": result.shrunk.tried,
        "kept": result.shrunk.kept,
        "minimal": result.shrunk.minimal,
        "repeats": result.repeats,
        **({"session": result.kept} if result.kept else {}),
        "repeat": result.command,
    }
