"""`harness doctor`: short probes of an agent, what they show, and the profile that they write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import options, terminal
from harness.cli.interrupts import deferred
from harness.cli.probe_world import in_place, outside, played_as, told, told_result, user_folder
from harness.cli.reports import outputs, reporting, wanted_reports
from harness.core.values.verdict import EXIT_STATUS, NotApplicable, Verdict

if TYPE_CHECKING:
    from harness.cli.run_task import RunTask
    from harness.core.scenario.scenario import Scenario
    from harness.core.values.profile import Profile
    from harness.doctor import Examination, Probe
    from harness.engines import Engine
    from harness.verdicts.result import Result

REAL_S = 15.0
"""The limit of real time of a probe if neither a flag nor the profile sets one."""

NAME = "agent"

_PROBES = 18
"""About the number of probes that are played, in a few batches."""


@click.command("doctor")
@options.target
@options.profile
@options.real_s
@options.world
@options.store
@click.option("--write", "written", default=None, is_flag=False, flag_value=NAME,
              metavar="[NAME|FILE]",
              help=f"Write the profile, into the configuration or a file.  [name: {NAME}]",
              )  # fmt: skip
@click.option("--bind", is_flag=True,
              help="Find the agent's tools that calls of the catalogue can meet; writes them too.",
              )  # fmt: skip
@outputs
@options.jobs
@in_place
@options.plugins
@options.every_verb
def command(
    target: str, profile_name: str, world: options.World | None, store: str, written: str | None,
    bind: bool, jobs: int | None, as_json: bool,
) -> int:  # fmt: skip
    """Play short probes against an agent, and print the connections and behaviour that they show.

    The agent is played in a copy of this folder, with an empty home folder.

    Exit status 0 if the agent calls the model on any wire, 1 if it calls it on none.
    """
    from harness.cli.selection import check_target
    from harness.doctor.profile_text import place_for, profile_text, write
    from harness.targets.spec import resolve

    start = user_folder()
    given = options.chosen_profile(profile_name)
    target = target or given.target
    check_target(target, [])
    spec = resolve(target)
    known = _known(given.completed_by(spec.profile), store)
    written = written or (NAME if bind else None)
    place = place_for(written, start) if written else None
    # In virtual time all probes together take less than the import of an SDK in one more process.
    is_quick = spec.kind == "python" and world != "supervise"
    engine = options.target_engine("local", jobs, target, 1 if is_quick else _PROBES)
    found, has_failed = _examined(target, world, known, given, engine, as_json)
    if place and found.wire:
        path, table = place
        found = _bound(found) if bind else found
        with deferred():
            text = profile_text(found.profile, found.observations, target, table)
            write(told(text), path)
            _say_written(path, table, as_json)
    return EXIT_STATUS["unknown"] if has_failed else 0 if found.wire else 1


def _examined(
    target: str,
    world: options.World | None,
    known: Profile,
    given: Profile,
    engine: Engine,
    as_json: bool,
) -> tuple[Examination, bool]:
    """Examine the target, and tell the reports; return also whether one of them failed."""
    import msgspec

    from harness.cli.doctor_report import DoctorReport, row
    from harness.doctor import examine
    from harness.engines.local import Local
    from harness.files.owner import scratch_folder
    from harness.verdicts.command_events import CommandStarted
    from harness.verdicts.event_lines import counted

    screen = DoctorReport(target, as_json, terminal.width(), terminal.paint())
    with (
        reporting(CommandStarted(verb="doctor", noun="probe"), screen) as tell,
        scratch_folder() as out,
        engine if isinstance(engine, Local) else nullcontext(),
    ):
        player = _Player(played_as(target), world, known.store, out, engine, tell)
        try:
            found = examine(known, player.play)
        except KeyboardInterrupt:
            terminal.note(f"{counted(player.ended, 'probe')} ended; no profile is written")
            raise
        seen = msgspec.structs.replace(found.profile, limits=given.limits)
        found = screen.found = msgspec.structs.replace(found, profile=seen)
        screen.outside = outside(found.probes)
        tell.totals = row(target, found, screen.outside)
    return found, tell.has_failed


def _bound(found: Examination) -> Examination:
    """Return the examination with a profile that binds the agent's tools, and say which."""
    import msgspec

    from harness.doctor.bindings import bindings
    from harness.files import find_scenarios, load_scenarios
    from harness.files.bundle import named_path
    from harness.runner.tool_offers import misfit

    files = find_scenarios([named_path("@all")])
    offered = {name: s for probe in found.probes for name, s in probe.trace.offered.items()}
    scenarios = (scenario for path in files for scenario in load_scenarios(path))
    made = bindings(offered, scenarios, misfit, found.profile.safe_tools)
    for tool, own in made.names.items():
        terminal.note(f"bound: calls of {tool} meet your {own}, where it takes the input")
    for tool, own in made.acting.items():
        terminal.note(f"not bound: calls of {tool} fit your {own}, which may act: {_ALLOW}")
    if not made.names:
        terminal.note(f"none of your tools has the name and the inputs of a scenario's: {_ALLOW}")
    return msgspec.structs.replace(found, profile=made.bound(found.profile))


_ALLOW = "name tools that do no harm in `safe_tools` of the profile"


def _known(profile: Profile, store: str) -> Profile:
    import msgspec

    limits = msgspec.structs.replace(profile.limits, real_s=profile.limits.real_s or REAL_S)
    return msgspec.structs.replace(profile, store=store or profile.store, limits=limits)


class _Player:
    """Plays scenarios like `harness run`, tells their results, and reads their histories."""

    def __init__(
        self, target: str, world: options.World | None, store: str, out: Path, engine: Engine,
        tell: Callable[[Result], Result],
    ) -> None:  # fmt: skip
        self._target, self._world, self._store = target, world, store
        self._out, self._engine, self._batch = out, engine, 0
        self._tell, self._wires = tell, set[str]()
        self.ended = 0

    def play(self, scenarios: Sequence[Scenario]) -> list[Probe]:
        """Return the probes of these scenarios, in order.

        They are told together, because the first batch asks on each wire: an agent that answers on
        one of them may refuse the others.
        """
        from harness.doctor.connections import speaks

        self._batch += 1
        played: list[tuple[Probe, Result]] = []
        try:
            played += self._played(scenarios, self._out / str(self._batch))
        finally:  # after Ctrl-C the reports hold the probes that ended
            self._wires |= {probe.scenario.wire for probe, _ in played if speaks(probe)}
            for probe, run in played:
                self._tell(told_result(self._result(probe, run)))
        return [probe for probe, _ in played]

    def _result(self, probe: Probe, run: Result) -> Result:
        """Return the result of a probe, without its files, which go with the command.

        It is not applicable on a wire that the agent does not speak, where it speaks another. The
        same holds for a policy that it does not have.
        """
        import shlex

        import msgspec

        from harness.doctor.behaviour import inbound_policy

        again = ["harness", "doctor", "--target", self._target]
        run = msgspec.structs.replace(
            run, file="", history="", kept="", output_file="", repeat=shlex.join(again)
        )
        wire, policy = probe.scenario.wire, probe.scenario.profile.inbound_policy("main")
        if run.word == "not_applicable":
            return run
        if probe.name == "mid-turn" and (found := inbound_policy(probe)) and found != policy:
            lack = NotApplicable("run", f"the agent's policy for messages is {found}", found)
        elif wire not in self._wires and self._wires:
            lack = NotApplicable("run", f"the agent does not speak {wire}", wire, "wire")
        else:
            return run
        verdict = Verdict("not_applicable", not_applicable=(lack,))
        return msgspec.structs.replace(run, verdict=verdict)

    def _played(self, scenarios: Sequence[Scenario], out: Path) -> Iterator[tuple[Probe, Result]]:
        from harness.cli.run_task import played
        from harness.core.history.history import History, decode
        from harness.doctor import Probe
        from harness.files.regular_file import whole

        tasks = [self._task(scenario, out) for scenario in scenarios]
        made = played(tasks, self._engine)
        with terminal.progress(len(scenarios), "probes") as advance:
            for scenario, run in zip(scenarios, made, strict=True):
                kept = Path(run.history) if run.history else None
                history = decode(whole(kept)) if kept else History()
                self.ended += 1
                used = run.connections.used
                yield Probe(scenario, history.trace, run.verdict, used), run
                advance()

    def _task(self, scenario: Scenario, out: Path) -> RunTask:
        from harness.cli.run_task import RunTask
        from harness.verdicts.result import Invocation

        asked = Invocation(
            path="", target=self._target, store=self._store, plugin_flags=options.plugin_flags()
        )
        return RunTask(scenario=scenario, asked=asked, world=self._world, out=str(out))


def _say_written(path: Path, table: tuple[str, ...], as_json: bool) -> None:
    from harness.redaction.encoder import json_line

    name = table[-1] if table else str(path)
    if as_json:
        terminal.out(json_line({"written": str(path), "profile": name}))
    elif wanted_reports().takes_standard_output:
        terminal.note(f"written: {path}; use it with --profile {name}")
    else:
        terminal.out(f"\nwritten: {path}; use it with --profile {name}")
