"""`harness run`: plays scenarios against an agent.

All input is read before the first run, so a mistake in the last file costs no runs. A worker
reduces each run to a summary.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from harness.cli import options, terminal
from harness.cli.baseline import baseline
from harness.cli.reports import html, outputs, reporting
from harness.cli.required_reach import check_required, require_reached, status_with
from harness.core.values.errors import InputError
from harness.files.owner import out_lock
from harness.verdicts.result import Invocation, reach_of, run_command

if TYPE_CHECKING:
    from harness.cli.agent_runs import Planned
    from harness.cli.run_task import RunTask
    from harness.core.scenario.scenario import Scenario
    from harness.core.values.profile import Profile
    from harness.core.values.verdict import FindingClass
    from harness.engines import Engine
    from harness.report.media.text import Detail
    from harness.targets.output_capture import CaptureMode
    from harness.verdicts.command_events import Report
    from harness.verdicts.result import Invocation, Result


@click.command("run")
@click.argument("paths", nargs=-1, metavar="[SCENARIO|CASSETTE|DIR]...", type=options.NamedPath())
@options.target
@options.only
@options.spoken(
    "Runs on this wire. Default: each scenario once, on a wire of the agent.", every=True
)
@options.profile
@options.real_s
@options.fail_on
@options.seed
@options.world
@options.out_folder(options.RUNS, "The folder for the histories.")
@options.store
@click.option("--faults", type=click.Path(path_type=Path), metavar="OVERLAY",
              help="A YAML file whose `faults:` are added to every run.")  # fmt: skip
@click.option(
    "--dry-run",
    is_flag=True,
    help="List the runs; with -v or --faults, also the calls that faults hit.",
)
@click.option("--compare", is_flag=True,
              help="Also play runs streamed and in pieces, and compare them.")  # fmt: skip
@click.option("--lf", is_flag=True,
              help="Only runs that did not pass last time; all if there is none.")  # fmt: skip
@click.option("-x", "first", is_flag=True, help="Stop after the first failing run.")
@click.option("--maxfail", type=click.IntRange(1), metavar="N",
              help="Stop after N failing runs.")  # fmt: skip
@click.option("--keep", is_flag=True, help="Keep the session folders of failing runs.")
@click.option("--capture", type=click.Choice(["fd", "sys", "tee-sys", "no"]), default="fd",
              show_default=True,
              help="What of the target's output is kept and shown with a failing run.")  # fmt: skip
@click.option("-s", "captures_nothing", is_flag=True, help="Short for --capture no.")
@require_reached
@outputs
@html
@baseline
@click.option("-q", "--quiet", is_flag=True, help="Print only failures and the last line.")
@click.option("-v", "--verbose", is_flag=True, help="Print all details of each run.")
@options.jobs
@options.engine
@options.plugins
@options.every_verb
def command(
    paths: tuple[Path, ...], target: str, only: tuple[str, ...], spoken: tuple[str, ...],
    profile_name: str, fail_on: FindingClass | None, seed: int | None,
    world: options.World | None, out: Path, store: str, faults: Path | None, dry_run: bool,
    compare: bool, lf: bool, first: bool, maxfail: int | None, keep: bool, capture: CaptureMode,
    captures_nothing: bool, quiet: bool, verbose: bool,
    jobs: int | None, engine: options.EngineName, as_json: bool,
) -> int:  # fmt: skip
    """Play scenarios against an agent and judge its behaviour.

    SCENARIO is a YAML file. In a DIR, every *.yaml with `script:` is played. Default: ./scenarios.
    The catalogue is bundled: @all, a folder of it (@loops), a scenario (@loops/circles). A
    CASSETTE, or a DIR of cassettes only, is played as a separate scenario.
    """
    from harness.cli import agent_runs, selection
    from harness.cli.compared_runs import ComparedRuns
    from harness.cli.dry_run import rehearse
    from harness.cli.run_task import RunTask

    check_required()
    detail, where = _detail(quiet, verbose), Path(os.path.abspath(out))
    agent, wires = _on_wires(options.chosen_profile(profile_name), spoken, compare)
    target, drawn = target or agent.target, options.configuration().seed if seed is None else seed
    chosen = agent_runs.for_agent(
        selection.plan(paths), only, wires, agent, target, plays=not dry_run
    )
    planned = selection.overlaid(_last_failed(chosen, where) if lf else chosen, faults)
    planned = selection.failing_on(selection.under_profile(planned, agent), fail_on)
    planned = _bound_told(selection.in_all_writings(planned) if compare else planned, agent)
    if dry_run:
        listed, with_hits = "json" if as_json else detail, verbose or faults is not None
        return rehearse(planned, target, drawn, listed, with_hits=with_hits)
    selection.check_target(target, planned)
    asked = partial(Invocation, target=target, world=world or "", store=store,
                    profile=profile_name, fail_on=fail_on or "", faults=str(faults or ""),
                    compare=compare, plugin_flags=options.plugin_flags())  # fmt: skip
    tasks = [
        RunTask(scenario=scenario, asked=asked(path=path), world=world, seed=drawn, out=str(where),
                keep=keep or agent.keep, capture="no" if captures_nothing else capture)
        for path, scenario in planned
    ]  # fmt: skip
    does, most = options.target_engine(engine, jobs, target, len(tasks)), 1 if first else maxfail
    again = _again(paths, asked, seed)
    shown = screen(len(tasks), detail, as_json, out / "report.txt", again)
    return _play(tasks, does, most, where, out, shown, ComparedRuns() if compare else _as_played)


def _last_failed(planned: Planned, out: Path) -> Planned:
    """Return the runs whose stored verdict is not a pass; all if each passed or is new."""
    from harness.runner.run_folder import HISTORY, folder_for, read_verdict

    def did_not_pass(run: Scenario) -> bool:
        stored = read_verdict(folder_for(out, run) / HISTORY)
        return stored is not None and stored.verdict in ("fail", "unknown")

    if found := [each for each in planned if did_not_pass(each[1])]:
        return found
    terminal.note("--lf: no run of the last time failed, so all are played")
    return planned


def _on_wires(
    agent: Profile, named: tuple[str, ...], compare: bool
) -> tuple[Profile, tuple[str, ...]]:
    """The profile of an agent that speaks the named wires, and the wires that are asked for; a
    comparison asks for all."""
    from harness.core.scenario.scenario import EVERY_WIRE

    wires = agent.wires if EVERY_WIRE in named else named or agent.wires
    asked = named or ((EVERY_WIRE,) if compare else ())
    return msgspec.structs.replace(agent, wires=wires), asked


def _bound_told(planned: Planned, agent: Profile) -> Planned:
    """Return the runs, after a note for each of their tools that the agent runs by itself."""

    known = {name for _, scenario in planned for name in scenario.tools}
    for tool, own in agent.tool_names.items():
        if tool in known:
            terminal.note(f"the tool {tool} of the scenarios is the agent's {own}, by the profile")
    for own in agent.safe_tools if known else ():
        terminal.note(f"the agent's {own} stands for a tool of the scenarios, by the profile")
    return planned


def _as_played(run: Result) -> Result:
    return run


def _again(
    paths: tuple[Path, ...], asked: Callable[..., Invocation], seed: int | None
) -> Callable[[str], str] | None:
    """Return the command that plays one run by name, below the single path of this command."""
    from harness.cli.selection import DEFAULT_FOLDER
    from harness.files.bundle import shown

    path, *others = paths or (DEFAULT_FOLDER,)
    return None if others else partial(run_command, asked(path=shown(path)), seed=seed)


def _detail(quiet: bool, verbose: bool) -> Detail:
    if quiet and verbose:
        raise InputError("either --quiet or --verbose", "--quiet")
    return "verbose" if verbose else "quiet" if quiet else "usual"


def _play(
    tasks: list[RunTask], engine: Engine, most: int | None, where: Path, out: Path, chosen: Report,
    compared: Callable[[Result], Result],
) -> int:  # fmt: skip
    """Play the tasks into the folder `where`; `out` is its name as the user wrote it."""
    from harness.cli.run_task import played
    from harness.verdicts.command_events import CommandStarted
    from harness.verdicts.reach import NOTHING

    reach = NOTHING
    names = tuple((task.scenario.run_name, task.scenario.name) for task in tasks)
    started = CommandStarted(verb="run", planned=names)
    beside = each_run(chosen, where, len(tasks))
    with (
        reporting(started, chosen, beside=beside) as tell,
        out_lock(where, out),
        terminal.progress(len(tasks), "runs") as advance,
    ):
        runs = played(tasks, engine)
        for run in _settled(runs, most, lambda run: tell(as_named(compared(run), where, out))):
            reach += reach_of([run])
            advance()
    return status_with(reach, tell.status)


def each_run(screen: Report, folder: Path, planned: int) -> dict[Path, Report]:
    """Return the report of each run, by its file in the folder, for a screen that has only
    causes."""
    from harness.report.media.screen import Screen
    from harness.report.media.text import EACH_RUN, REPORT, Text

    is_needed = isinstance(screen, Screen)
    return {folder / REPORT: Text(head=f"{EACH_RUN} {planned}")} if is_needed else {}


def screen(
    planned: int, detail: Detail, as_json: bool, report: Path, again: Callable[[str], str] | None
) -> Report:
    """Return the verb's own report; `report` is the file of each run as the user wrote it."""
    from harness.report.media.json_lines import JsonLines
    from harness.report.media.screen import LISTED_MAX, Screen
    from harness.report.media.text import Text

    width, paint = terminal.width(), terminal.paint()
    if as_json:
        return JsonLines()
    if detail == "usual" and planned > LISTED_MAX:
        return Screen(width, paint, str(report), again)
    return Text(detail, width, paint)


def as_named(run: Result, where: Path, out: Path) -> Result:
    """Return the run with its paths as the user named the folder."""
    named = {
        name: getattr(run, name).replace(str(where), str(out), 1)
        for name in ("history", "kept", "output_file")
    }
    return msgspec.structs.replace(run, **named)


def _settled(
    runs: Generator[Result], most: int | None, tell: Callable[[Result], Result]
) -> Iterator[Result]:
    """Tell and yield each run when its verdict is final; runs that lack a capability come last.

    `tell` sets apart the findings that do not fail. After `most` failing runs no further run is
    played.
    """
    from harness.runner.capability_ledger import CapabilityLedger

    ledger: CapabilityLedger[Result] = CapabilityLedger()
    failed = 0
    with closing(runs):
        try:
            for settled in (one for run in runs for one in ledger.take(run)):
                if settled.word == "fail" and not failed and ledger.facts:
                    terminal.note(f"the agent: {ledger.facts}")
                ready = tell(
                    _without_trace(settled) if settled.word == "not_applicable" else settled
                )
                yield ready
                failed += ready.word == "fail"
                if failed == most:
                    break
        except KeyboardInterrupt:
            yield from map(tell, map(_without_trace, ledger.break_off()))
            raise
    yield from map(tell, map(_without_trace, ledger.close()))


def _without_trace(run: Result) -> Result:
    """Mark a run as lacking a capability: write its new verdict and remove its folder."""
    from harness.runner.run_folder import drop_session, write_verdict

    if not run.history:
        return run
    write_verdict(Path(run.history).parent, run.verdict)
    drop_session(Path(run.history).parent)
    return msgspec.structs.replace(run, kept="")
