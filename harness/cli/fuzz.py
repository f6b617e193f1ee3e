"""`harness fuzz`: a campaign against an agent, limited by examples or minutes.

A run with a finding is written at once. The finding is printed after it is shrunk and written. The
journal holds it too, so an interrupted campaign continues without duplicates.
"""

from __future__ import annotations

import os
import shlex
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from harness.checks import names
from harness.cli import options, terminal
from harness.cli.baseline import baseline
from harness.cli.interrupts import deferred
from harness.cli.reports import outputs
from harness.cli.required_reach import check_required, require_reached, status_with
from harness.core.values.errors import InputError
from harness.files.owner import out_lock

if TYPE_CHECKING:
    from harness.core.values.profile import Profile
    from harness.core.values.verdict import FindingClass
    from harness.engines import Engine
    from harness.fuzz.campaign import Campaign
    from harness.fuzz.campaign_journal import Journal
    from harness.fuzz.replay import TakenExample
    from harness.targets import TargetSpec

DEFAULT_OUT = ".harness/fuzz"
DEFAULT_EXAMPLES = 1_000

_OF_A_NEW_CAMPAIGN = ("place", "target", "seed", "wire", "profile_name", "fail_on", "store", "keep",
                      "compare", "orders", "out")  # fmt: skip


@click.command("fuzz")
@options.target
@click.option("--examples", type=click.IntRange(0), metavar="N",
              help=f"The number of examples.  [default: {DEFAULT_EXAMPLES}]")  # fmt: skip
@click.option("--examples-from", "place", metavar="PLACE",
              help="First play the failing examples of a folder, a ZIP archive or its URL, "
              "as a CI run keeps them.")  # fmt: skip
@click.option("--minutes", type=click.FloatRange(0, min_open=True), metavar="M",
              help="Explore and shrink for this time, in place of --examples.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), metavar="N",
              help="The seed of all random choices.  [default: a new one each time]")  # fmt: skip
@click.option("--wire", type=options.WireChoice(),
              help="The API that the agent uses.  [default: anthropic]")  # fmt: skip
@options.profile
@options.fail_on
@options.store
@click.option("--keep", is_flag=True, help="Keep the session folders of the kept runs.")
@click.option("--compare", is_flag=True,
              help="Also play examples without faults streamed, and compare.")  # fmt: skip
@click.option("--orders", is_flag=True, help="Also draw who goes first at one moment.")
@options.engine
@click.option("-j", "--jobs", "--workers", "workers", type=click.IntRange(1, 4096), metavar="N",
              help="Use N processes.  [default: one per core; one for a server]")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR",
              help=f"A new folder for the campaign.  [default: {DEFAULT_OUT}/SEED]")  # fmt: skip
@click.option("--resume", type=click.Path(path_type=Path), metavar="DIR",
              help="Continue the campaign of this folder.")  # fmt: skip
@require_reached
@outputs
@baseline
@options.plugins
@options.every_verb
def command(
    target: str, examples: int | None, place: str | None, minutes: float | None, seed: int | None,
    wire: str | None, profile_name: str, fail_on: FindingClass | None, store: str, keep: bool,
    compare: bool, orders: bool, engine: options.EngineName, workers: int | None,
    out: Path | None, resume: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Play generated scenarios and faults against an agent; shrink and keep what is found.

    Exit status 1 with findings, 0 without, 3 when no example ended. One seed is one campaign,
    with any number of workers.
    """
    check_required()
    if examples is not None and minutes:
        raise InputError("either --examples or --minutes", "--minutes")
    if examples == 0 and place is None and resume is None:
        raise InputError("plays only those of --examples-from, which is missing", "--examples 0")
    if resume is not None:
        options.refuse_given("a resumed campaign keeps its own value", _OF_A_NEW_CAMPAIGN)
    cluster = options.engine_named(engine, workers) if engine == "ray" else None
    with ExitStack() as held:
        if resume is not None:
            campaign, journal, folder = _resumed(resume, held)
        else:
            begun = _begun(
                target,
                seed,
                wire,
                profile_name,
                fail_on,
                out,
                held,
                store=store,
                keep=keep,
                compare=compare,
                orders=orders,
                place=place,
            )
            campaign, journal, folder = begun
        does = cluster or _local(workers, campaign.plan.target)
        most = None if minutes else _most(examples, campaign)
        end_s = time.monotonic() + minutes * 60 if minutes else None
        return _run(campaign, journal, folder, does, most, end_s, as_json)


def _most(examples: int | None, campaign: Campaign) -> int:
    """Return the number of examples in all, with those before a resume."""
    return max(DEFAULT_EXAMPLES, campaign.examples) if examples is None else examples


def _begun(
    target: str,
    seed: int | None,
    wire: str | None,
    profile_name: str,
    fail_on: FindingClass | None,
    out: Path | None,
    held: ExitStack,
    *,
    store: str,
    keep: bool,
    compare: bool,
    orders: bool,
    place: str | None,
) -> tuple[Campaign, Journal, Path]:
    import secrets

    from msgspec import UNSET

    from harness.core.scenario.scenario import DEFAULT_WIRE
    from harness.core.values.profile import NO_PROFILE
    from harness.fuzz.batch import SIZE, SIZE_IN_REAL_TIME
    from harness.fuzz.campaign import begin
    from harness.fuzz.campaign_journal import CampaignPlan

    start = Path.cwd()  # a target may change the working directory
    taken = _taken(place) if place is not None else ()
    agent, spec = _agent(profile_name, target, store)
    drawn = secrets.randbelow(1_000_000) if seed is None else seed
    folder = _new_folder(start, out or Path(DEFAULT_OUT) / str(drawn), held)
    spoken = wire or next(iter(agent.wires), DEFAULT_WIRE)
    plan = CampaignPlan(target=spec.text, seed=drawn, wire=spoken,
                        fail_on=fail_on or agent.fail_on or UNSET,
                        profile=UNSET if agent == NO_PROFILE else agent,
                        profile_name=profile_name or UNSET, store=store or UNSET,
                        keep=keep or agent.keep or UNSET, compare=compare or UNSET,
                        orders=orders or UNSET,
                        size=SIZE if spec.kind == "python" else SIZE_IN_REAL_TIME)  # fmt: skip
    return *begin(folder, plan, names(), taken), folder


def _taken(place: str) -> tuple[TakenExample, ...]:
    """Return the failing examples of a place; say how many it has, and how many are left out."""
    from harness.fuzz.taken_examples import EXAMPLES_MOST, examples_of
    from harness.verdicts.event_lines import counted

    found = examples_of(place)
    left = len(found) - EXAMPLES_MOST
    terminal.note(f"{counted(len(found), 'failing example')} of {place.partition('?')[0]}")
    if left > 0:
        terminal.note(f"left out: {left}, after the first {EXAMPLES_MOST}")
    return found[:EXAMPLES_MOST]


def _agent(profile_name: str, named: str, store: str) -> tuple[Profile, TargetSpec]:
    """Return the agent's profile, with its kind of target and the store that the command names."""
    from msgspec.structs import replace

    from harness.cli.selection import check_target
    from harness.targets.spec import resolve

    agent = options.chosen_profile(profile_name)
    target = named or agent.target
    check_target(target, [])
    spec = resolve(target)
    known = agent.completed_by(spec.profile)
    return replace(known, store=store or known.store), spec


def _new_folder(start: Path, named: Path, held: ExitStack) -> Path:
    """Return the locked folder of a new campaign. Raises InputError if it holds a campaign."""
    from harness.fuzz.campaign_journal import FILE

    folder = start / named
    if (folder / FILE).exists() and (folder / FILE).stat().st_size:
        what = f"holds a campaign: continue it with --resume {named}, or choose another --out"
        raise InputError(what, str(named))
    held.enter_context(out_lock(folder, named))
    return folder


def _resumed(folder: Path, held: ExitStack) -> tuple[Campaign, Journal, Path]:
    from harness.fuzz.campaign import resume
    from harness.fuzz.campaign_journal import FILE

    folder = Path(os.path.abspath(folder))
    if (folder / FILE).exists():
        held.enter_context(out_lock(folder))
    return *resume(folder, names()), folder


def _local(workers: int | None, target: str) -> Engine:
    """Return an engine with worker processes, even for one worker: an agent may end its process.

    A server plays one run at a time unless `workers` is higher.
    """
    from harness.engines.local import Local
    from harness.targets.spec import is_server

    return Local(workers or (1 if is_server(target) else options.cores()))


def _run(
    campaign: Campaign,
    journal: Journal,
    folder: Path,
    engine: Engine,
    most: int | None,
    end_s: float | None,
    as_json: bool,
) -> int:
    from harness.cli import fuzz_report, terminal
    from harness.fuzz.campaign import run

    campaign.until_s = None if end_s is None else time.time() + end_s - time.monotonic()
    below = folder.is_relative_to(Path.cwd())
    shown = Path(os.path.relpath(folder)) if below else folder
    show = fuzz_report.FuzzReport(campaign, shown, most, end_s, as_json)
    results = run(campaign, engine, journal, folder, examples=most)
    try:
        with show, _alarm(end_s):
            for result in results:
                show.result(result)
    except _TimeOver:  # `--minutes` is over: an ordinary end
        pass
    except KeyboardInterrupt:
        words = ["harness", "fuzz", "--resume", str(shown), *options.plugin_flags()]
        with deferred():
            show.ending("interrupted", interrupted=True)
            terminal.note(f"to continue: {shlex.join(words)}")
        raise
    finally:
        results.close()  # type: ignore[attr-defined]
        journal.close()
    return status_with(campaign.reach, show.ending())


_GRACE_S = 5.0
"""How long a running example may continue after the campaign's time is over."""


class _TimeOver(KeyboardInterrupt):
    """The campaign's time and the grace period are over.

    Running examples are stopped as by Ctrl-C, and finished ones are kept.
    """


@contextmanager
def _alarm(end_s: float | None) -> Iterator[None]:
    """Raise `_TimeOver` in the block when the grace period is over, even if the target blocks."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise _TimeOver

    if end_s is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(0.0, end_s - time.monotonic()) + _GRACE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
