"""One run from end to end, and its text for a snapshot test.

A Python target runs in this process, or in forked children if a fault may kill it. The snapshot is
the verdict and findings, then the canonical history, one event a line. It changes only with the
agent, so a diff shows the agent's change.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from harness import providers
from harness.checks.judge import judge
from harness.core.history.history import History, canonical
from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, Turn
from harness.core.transition.arming import ArmedFault
from harness.core.transition.ports import Script
from harness.core.transition.transition import Transition
from harness.core.values.errors import InputError, PackageMissing
from harness.core.values.profile import NO_CONNECTIONS, Connections, Profile
from harness.core.values.verdict import NotApplicable, Verdict
from harness.files.owner import scratch_folder
from harness.processes.machine import lack_of
from harness.redaction.masking import mask
from harness.runner import prepare, run_folder
from harness.runner.forked_target import Restarts
from harness.runner.needs import (
    WORLDS,
    World,
    absent,
    connections,
    kills,
    of_its_session,
    unplayable,
)
from harness.runner.prepare import check_faults
from harness.runner.python_attempt import attempt
from harness.runner.session_seed import seed_messages, write_seed
from harness.runner.store_watch import OwnStore
from harness.runner.supervise import supervise
from harness.stores.opening import open_scratch, open_unshared
from harness.targets import TargetSpec, of_callable, resolve
from harness.targets.output_capture import CaptureMode, captured


class Run(msgspec.Struct, frozen=True):
    """The result of a run: its history, its verdict, and their files if they were kept.

    `kept` is the kept session folder of a failing run. `output` is what the target printed, if it
    was captured: its end, without secrets. The command, or the test, decides from the
    `connections` of all runs which capability is missing.
    """

    scenario: Scenario
    target: str
    world: World
    seed: int
    history: History
    verdict: Verdict
    folder: Path | None = None
    kept: Path | None = None
    connections: Connections = NO_CONNECTIONS
    output: str = ""

    @property
    def name(self) -> str:
        """NAME[/VARIANT][@WIRE][+stream]."""
        return self.scenario.run_name

    @property
    def wire(self) -> str:
        """The provider's API."""
        return self.scenario.wire

    def __repr__(self) -> str:
        """The text of the run in a snapshot: `assert run == snapshot` with syrupy compares this."""
        head = f"run {self.name}: {self.verdict.verdict}, {self.verdict.outcome}"
        return "\n".join([head, *_snapshot_lines(self.verdict, self.history)])


def _snapshot_lines(verdict: Verdict, history: History) -> Iterator[str]:
    for kind, found in (("finding", verdict.findings), ("known", verdict.known)):
        for finding in found:
            events = ", ".join(f"#{n}" for n in finding.events)
            yield f"{kind} {finding}{f' ({events})' if events else ''}"
    for doubt in verdict.doubts:
        yield f"doubt {doubt}"
    yield from canonical(history).decode().splitlines()


def _spec(target: TargetSpec | Callable[..., Any] | str) -> TargetSpec:
    if isinstance(target, str):
        return resolve(target)
    return target if isinstance(target, TargetSpec) else of_callable(target)


def run(
    scenario: Scenario,
    target: TargetSpec | Callable[..., Any] | str,
    *,
    world: World | None = None,
    seed: int | None = None,
    out: Path | None = None,
    script: Script | None = None,
    store: str = "",
    options: dict[str, Any] | None = None,
    profile: Profile | None = None,
    isolate: bool = False,
    keep: bool = False,
    capture: CaptureMode = "no",
    probes: Sequence[ArmedFault] = (),
) -> Run:
    """Run a target through a scenario, and judge it.

    A target as text is a specification as for `--target`. The target gets the scenario's `stream`
    as an option, which its own options override. `script` replaces the scenario's: any object with
    `reply(call, past)` and `unplayed(past)`. `store` names the agent's own store as READER:PATH
    below its session folder. `profile` replaces `scenario.profile`; the target's profile completes
    it. `out` keeps the run on disk. `isolate` runs a Python target in a forked child, which it may
    end by any means. `keep` keeps the session folder of a run that fails: `Run.kept`. `capture`
    keeps what the target prints: `Run.output`. `probes` tell which calls faults could meet. A wrong
    target does not raise here: the verdict shows it. Raises InputError for a scenario, store or
    world that cannot be used.
    """
    spec = _spec(target)
    wanted = {"stream": scenario.stream, **spec.options, **(options or {})}
    spec = msgspec.structs.replace(spec, options=wanted, isolate=isolate or spec.isolate)
    given = {k: v for k, v in (("seed", seed), ("profile", profile)) if v is not None}
    scenario = msgspec.structs.replace(scenario, **given)
    known = scenario.profile.completed_by(spec.profile)
    scenario = prepare.under_profile(msgspec.structs.replace(scenario, profile=known))
    store = store or known.store
    chosen = _world(spec, world)
    check_faults(scenario, spec)
    if reasons := absent(scenario) or unplayable(scenario, spec, chosen):
        verdict = Verdict("not_applicable", not_applicable=reasons)
        return _unplayed(scenario, spec, chosen, verdict, out)
    try:
        with scratch_folder() as folder:
            with captured(capture) as output:
                played = pass_through(
                    scenario, spec, chosen, folder, script=script, store=store, probes=probes
                )
            session = folder if keep else None
            return judged_run(played, spec, chosen, out, session, output.text)
    except Exception as error:
        return _unplayed(scenario, spec, chosen, _verdict_of(error), out)


def rehearse(wire: str, stream: bool, target: TargetSpec) -> None:
    """Let the reference agent play a call of a tool, once for each wire, in this process.

    An SDK builds its types when it first reads an answer. That takes 0.1 s of processor time, which
    each forked child would need again, and its import 0.5 s. An SDK that the target's module does
    not name, and has not imported, is left out. Nothing of the target is called.
    """
    sdk = providers.record(wire).sdk.package if wire in providers.names() else ""
    if sdk in sys.modules or (sdk and _asks_for(sdk, target)):
        _rehearsed(wire, stream)


def _asks_for(sdk: str, target: TargetSpec) -> bool:
    """Whether the target's module imports this SDK, or asks the brief for its client.

    The name alone says nothing: a host such as `api.anthropic.com` bears it."""
    name = re.escape(sdk)
    asks = rf"\b(?:import|from)\s+{name}\b|\.(?:async_)?{name}\("
    return re.search(asks, _source(target)) is not None


def _source(target: TargetSpec) -> str:
    """The source of the target's module; "" where there is none to read."""
    with suppress(OSError, TypeError, KeyError, AttributeError):
        return inspect.getsource(sys.modules[target.agent.__module__]) if target.agent else ""
    return ""


@cache
def _rehearsed(wire: str, stream: bool) -> None:
    script = (Turn(use="look", input={}), Turn(say="It is there."))
    scenario = Scenario(
        name="rehearsal", wire=wire, stream=stream, tools={"look": ToolScript()},
        inbox=(InboxItem(text="Is it there?"),), script=script,
    )  # fmt: skip
    run(scenario, "reference")


def _verdict_of(error: Exception) -> Verdict:
    """Return the verdict of a run that could not begin or go on. Raises any other error again."""
    if isinstance(error, PackageMissing):
        reason = NotApplicable("run", error.what, error.package, "package")
    elif lack := lack_of(error):
        return Verdict("unknown", doubts=(str(lack),))
    else:
        raise error
    return Verdict("not_applicable", not_applicable=(reason,))


def _unplayed(
    scenario: Scenario,
    target: TargetSpec,
    world: World,
    verdict: Verdict,
    out: Path | None,
) -> Run:
    """Return a run without a history; with `out` only its verdict is written."""
    # A disk without room for the history may have none for the verdict either.
    with suppress(*((OSError, InputError) if verdict.doubts else ())):
        if out:
            run_folder.write_unplayed(run_folder.folder_for(out, scenario), verdict)
    return Run(scenario, target.text, world, scenario.seed, History(), verdict)


def judged_run(
    played: Transition,
    target: TargetSpec,
    world: World,
    out: Path | None,
    session: Path | None = None,
    output: str = "",
) -> Run:
    """Judge what was played and return the run; with `out`, the history is written first.

    `session` is the session folder to keep if the run fails. `output` is what the target printed.
    """
    scenario, history, output = played.scenario, played.history, mask(output)
    folder = run_folder.folder_for(out, scenario) if out else None
    if folder:
        run_folder.drop_session(folder)
        run_folder.write_history(folder, history)
        run_folder.write_output(folder, output)
    verdict = of_its_session(judge(history), played)
    if folder:
        run_folder.write_verdict(folder, verdict)
    fails = verdict.verdict == "fail"
    return Run(
        scenario, target.text, world, scenario.seed, history, verdict, folder,
        kept=run_folder.keep_session(session, folder) if session and fails else None,
        connections=connections(verdict, played), output=output,
    )  # fmt: skip


def _world(spec: TargetSpec, world: World | None) -> World:
    if world is not None and world not in WORLDS:
        raise InputError(f"no world {world!r}; {' and '.join(WORLDS)} are", "world")
    if world == "simulate" and spec.kind != "python":
        what = "a process or a server runs in real time; use --world supervise"
        raise InputError(what, f"target {spec.text!r}")
    return world or ("simulate" if spec.kind == "python" else "supervise")


def pass_through(
    scenario: Scenario,
    target: TargetSpec,
    world: str,
    folder: Path,
    *,
    script: Script | None,
    store: str,
    model_url: str = "",
    probes: Sequence[ArmedFault] = (),
) -> Transition:
    """Play a run in a world; the folder is the agent's session folder.

    In supervise, `model_url` is the model's URL if another server serves it.
    """
    seed = seed_messages(scenario)
    write_seed(folder, seed)
    if target.kind == "python" and (target.isolate or kills(scenario)):
        opener = open_scratch if kills(scenario) else open_unshared
        restarts = Restarts(
            scenario, target, world, folder,
            script=script, store=store, opener=opener, probes=probes,
        )  # fmt: skip
        try:
            restarts.run()
            return restarts.transition
        finally:
            restarts.drop()
    prepare.warm_up(scenario, target, forks=False)
    transition = prepare.transition_for(scenario, script, probes=probes)
    if target.kind != "python":
        supervise(transition, target, folder, store, model_url)
        return transition
    own = OwnStore(transition, folder, seed, target.options, opener=open_unshared)
    try:
        attempt(transition, target, world, folder, own, store=store, model_url=model_url)
    finally:
        own.close()
    return transition
