"""`harness sweep`: every fault at every call of some scenarios, and a certificate of it.

The list of cases is on disk before the first is played. An interrupted sweep goes on behind the
last result, and its certificate says that it is not complete.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import options, terminal
from harness.cli.baseline import baseline
from harness.cli.interrupts import deferred
from harness.cli.reports import html, outputs, reporting
from harness.cli.required_reach import check_required, require_reached, status_with
from harness.core.values.errors import InputError
from harness.files.owner import out_lock
from harness.redaction.encoder import json_document, json_line, text_bytes

if TYPE_CHECKING:
    from harness.core.scenario.scenario import Scenario
    from harness.core.values.verdict import FindingClass
    from harness.engines import Engine
    from harness.fuzz.findings import ShrunkFinding
    from harness.sweep.certificate import Group
    from harness.sweep.sweep_folder import ResultFile, Scope, SweepPlan
    from harness.verdicts.command_events import Event

DEFAULT_OUT = ".harness/sweep"

_OF_A_NEW_SWEEP = ("paths", "target", "only", "spoken", "profile_name", "fail_on", "store",
                   "faults", "k", "all_pairs", "orders", "out")  # fmt: skip
_OF_PLAYING = ("resume", "jobs", "engine", "page", "report", "junit", "markdown", "github",
               "baseline", "update")  # fmt: skip


@click.command("sweep")
@click.argument("paths", nargs=-1, metavar="[SCENARIO|CASSETTE|DIR]...", type=options.NamedPath())
@options.target
@options.only
@options.spoken(
    "Runs on this wire. Default: each scenario once, on a wire of the agent.", every=True
)
@options.profile
@options.fail_on
@options.store
@click.option("--faults", multiple=True, metavar="PATTERN",
              help="Only faults of this name, as in 'http.*'; may be repeated.")  # fmt: skip
@click.option("--k", type=click.IntRange(1, 2), default=1, show_default=True, metavar="N",
              help="Faults in a case: 2 adds pairs that may show something new.")  # fmt: skip
@click.option("--all-pairs", is_flag=True, help="With --k 2, leave no pair out.")
@click.option(
    "--orders",
    is_flag=True,
    help="Play the orders of events in place of faults; --k is the most changes.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR",
              help=f"A new folder for the sweep.  [default: {DEFAULT_OUT}]")  # fmt: skip
@click.option("--resume", type=click.Path(path_type=Path), metavar="DIR",
              help="Continue the sweep of this folder.")  # fmt: skip
@click.option("--verify", type=click.Path(path_type=Path), metavar="DIR",
              help="Judge the histories of this sweep again, and compare.")  # fmt: skip
@require_reached
@html
@outputs
@baseline
@options.jobs
@options.engine
@options.plugins
@options.every_verb
def command(
    paths: tuple[Path, ...], target: str, only: tuple[str, ...], spoken: tuple[str, ...],
    profile_name: str, fail_on: FindingClass | None, store: str, faults: tuple[str, ...],
    k: int, all_pairs: bool, orders: bool,
    out: Path | None, resume: Path | None, verify: Path | None,
    jobs: int | None, engine: options.EngineName, as_json: bool,
) -> int:  # fmt: skip
    """Play each fault of the catalogue at each call of some scenarios; end with a certificate.

    Exit status 1 with findings, 0 for a complete sweep without any, 3 where a case is open. A
    finding is shrunk, and has a scenario file. One agent gives one certificate, byte for byte.
    """
    check_required()
    if verify:
        options.refuse_given(
            "--verify plays nothing and does not read it", _OF_A_NEW_SWEEP + _OF_PLAYING
        )
        return _verified(verify, as_json)
    if resume:
        options.refuse_given("a sweep that exists keeps its own value", _OF_A_NEW_SWEEP)
    named = resume or out or Path(DEFAULT_OUT)
    folder = Path(os.path.abspath(named))
    with out_lock(folder, named):
        if not resume:
            plan, scenarios = _planned(
                paths, target, only, spoken, profile_name, fail_on, store, faults, k, all_pairs,
                orders,
            )  # fmt: skip
            _new(folder, named)
            does = options.target_engine(engine, jobs, plan.target, len(scenarios))
            _listed(folder, plan, scenarios, does)
        from harness.sweep.sweep_folder import read_scope

        scope = read_scope(folder)
        does = options.target_engine(engine, jobs, scope.plan.target, len(scope.cases))
        return _swept(folder, named, scope, does, as_json)


def _new(folder: Path, named: Path) -> None:
    """Raise InputError for a folder that holds a sweep."""
    from harness.sweep.sweep_folder import CASES

    if (folder / CASES).exists():
        what = f"holds a sweep: continue it with --resume {named}, or choose another --out"
        raise InputError(what, str(named))


def _planned(
    paths: tuple[Path, ...], target: str, only: tuple[str, ...], spoken: tuple[str, ...],
    profile_name: str, fail_on: FindingClass | None, store: str, faults: tuple[str, ...], k: int,
    all_pairs: bool, orders: bool,
) -> tuple[SweepPlan, list[Scenario]]:  # fmt: skip
    from harness.cli import agent_runs, selection
    from harness.sweep.sweep import plan_of

    agent = options.chosen_profile(profile_name)
    named = target or agent.target
    selection.check_target(named, [])
    chosen = agent_runs.for_agent(selection.plan(paths), only, spoken, agent, named)
    runs = selection.failing_on(selection.under_profile(chosen, agent), fail_on)
    selection.check_target(named, runs)
    plan = plan_of(named, faults or ("*",), agent, profile_name, store, k, all_pairs, orders)
    return plan, [run for _, run in runs]


def _listed(folder: Path, plan: SweepPlan, scenarios: Sequence[Scenario], engine: Engine) -> None:
    from harness.sweep.sweep import listed

    with terminal.progress(len(scenarios), "scenarios listed") as advance:
        for _ in listed(folder, plan, scenarios, engine):
            advance()


def _swept(folder: Path, named: Path, scope: Scope, engine: Engine, as_json: bool) -> int:
    """Play what is left, shrink what is found, and print the certificate."""
    from harness.sweep.sweep import shrunk
    from harness.sweep.sweep_folder import ResultFile

    results = ResultFile(folder)
    small: dict[Group, ShrunkFinding] = {}
    try:
        _play(scope, results, engine)
        if scope.plan.k == 2:
            scope = scope if scope.has_pairs else _paired(folder, scope, results, engine)
            _play(scope, results, engine)
        for group, one in shrunk(folder, scope, results.results, engine):
            small[group] = one
    except KeyboardInterrupt:
        with deferred():
            _told(folder, named, scope, results, small, as_json, interrupted=True)
            words = ["harness", "sweep", "--resume", str(named), *options.plugin_flags()]
            terminal.note(f"to continue: {shlex.join(words)}")
        raise
    finally:
        results.close()
    return _told(folder, named, scope, results, small, as_json)


def _play(scope: Scope, results: ResultFile, engine: Engine) -> None:
    from harness.sweep.sweep import played

    with terminal.progress(len(scope.cases) - len(results.results), "cases played") as advance:
        for _ in played(scope, results, engine):
            advance()


def _paired(folder: Path, scope: Scope, results: ResultFile, engine: Engine) -> Scope:
    """List the pairs, and return the list of all cases."""
    from harness.sweep.order_cases import with_second_orders
    from harness.sweep.sweep import with_pairs
    from harness.sweep.sweep_folder import read_scope

    # How many first faults there are is known only as they are listed.
    found: Iterator[object] = (
        with_second_orders(folder, scope, results.results)
        if scope.plan.orders
        else with_pairs(folder, scope, results.results, engine)
    )
    with terminal.progress(len(scope.cases), "cases seen for pairs") as advance:
        for _ in found:
            advance()
    return read_scope(folder)


def _told(
    folder: Path, named: Path, scope: Scope, results: ResultFile,
    small: dict[Group, ShrunkFinding], as_json: bool, interrupted: bool = False,
) -> int:  # fmt: skip
    """Write the certificate, print it with its place, and return the exit status."""
    from msgspec import to_builtins

    from harness.cli.fuzz_report import command_of_found
    from harness.cli.sweep_report import certificate_lines, result_name, sweep_results
    from harness.files.regular_file import write_atomically
    from harness.report.command_summary import baseline_lines
    from harness.report.reach_lines import reach_lines
    from harness.sweep.certificate import FILE, TEXT, certificate, fault_matrices
    from harness.verdicts.command_events import CommandFinished, CommandStarted

    made, reach = certificate(scope, results.results, small), results.reach
    lines = list(certificate_lines(made))
    write_atomically(folder / FILE, json_document(made))
    write_atomically(folder / TEXT, text_bytes("\n".join(lines) + "\n"))

    def last(event: Event) -> Iterator[str]:
        if isinstance(event, CommandFinished):
            place = f"all of this stands in {named}"  # what is printed names files beside it
            text = (*lines, *reach_lines(reach), place)
            yield from [json_line(event.totals)] if as_json else text
            yield from baseline_lines(event.baseline)

    started = CommandStarted(verb="sweep", noun="result")
    with reporting(started, last, interrupted=interrupted) as tell:
        repeat = partial(command_of_found, plan=scope.plan)
        for one in sweep_results(scope, made, results.results, folder, repeat):
            tell(one)
        tell.totals = {**to_builtins(made), "reach": reach.as_json()}
        tell.matrices = tuple(fault_matrices(scope, results.results, result_name))
        tell.reach = reach
    return status_with(reach, tell.status)


def _verified(named: Path, as_json: bool) -> int:
    """Count the certificate of a folder again from its histories; 1 where it differs."""
    from harness.cli.sweep_report import certificate_lines
    from harness.sweep.certificate import certificate, difference, read_certificate
    from harness.sweep.sweep import counted_again
    from harness.sweep.sweep_folder import ResultFile, read_scope

    scope, told = read_scope(named), read_certificate(named)
    results = ResultFile(named)
    results.close()
    again = certificate(scope, counted_again(named, scope, results.results), {})
    differs = difference(told, again)
    if as_json:
        terminal.out(json_line({"verified": not differs, "differs": differs}))
    else:
        for line in certificate_lines(again):
            terminal.out(line)
        terminal.out(f"differs in {', '.join(differs)}" if differs else "verified: counted again")
    return 1 if differs else 0
