"""One run from end to end."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec

from harness.checks.judgement import judge
from harness.core.history.history import History
from harness.core.scenario.scenario import Scenario
from harness.core.transition.ports import Script
from harness.core.values.errors import InputError
from harness.core.values.verdict import NotApplicable, Verdict
from harness.runner import record, worlds
from harness.runner.prepare import check_faults
from harness.runner.snapshot import snapshot
from harness.runner.waits import needs_virtual_time
from harness.targets import TargetSpec, of_callable

World = Literal["simulate", "supervise"]


class Run(msgspec.Struct, frozen=True):
    """What a run leaves: its history and its verdict, and where they are on disk if anywhere."""

    scenario: Scenario
    target: str
    world: World
    seed: int
    history: History
    verdict: Verdict
    folder: Path | None = None

    @property
    def name(self) -> str:
        """NAME[/VARIANT][@WIRE][+stream]."""
        return self.scenario.run_name

    def __repr__(self) -> str:
        """The run as a snapshot keeps it: `assert run == snapshot` with syrupy compares this."""
        return snapshot(self.name, self.verdict, self.history)


def run(
    scenario: Scenario,
    target: TargetSpec | Callable[..., Any],
    *,
    world: World | None = None,
    seed: int | None = None,
    out: Path | None = None,
    script: Script | None = None,
    store: str = "",
    options: dict[str, Any] | None = None,
) -> Run:
    """Run a target through a scenario, and judge it.

    The scenario's `stream` reaches the target as an option, which the target's own options replace.
    `script` replaces the scenario's: any object with `reply(call, past)` and `unplayed(past)`.
    `store` names the agent's own store as READER:PATH below its session folder. `out` keeps the
    run on disk. A target that does wrong never raises here: it is in the verdict. Raises
    InputError for a scenario, store or world that cannot be used.
    """
    spec = target if isinstance(target, TargetSpec) else of_callable(target)
    wanted = {"stream": scenario.stream, **spec.options, **(options or {})}
    spec = msgspec.structs.replace(spec, options=wanted)
    if seed is not None:
        scenario = msgspec.structs.replace(scenario, seed=seed)
    chosen = _world(spec, world)
    check_faults(scenario, spec)
    wanting = cannot_pass(scenario, spec, chosen)
    if wanting:
        return _not_applicable(scenario, spec, chosen, wanting)
    with session_folder() as folder:
        history = worlds.pass_through(scenario, spec, chosen, folder, script=script, store=store)
    kept = record.folder_for(out, scenario) if out else None
    if kept:
        record.write_history(kept, history)
    verdict = judge(history)
    if kept:
        record.write_verdict(kept, verdict)
    return Run(scenario, spec.text, chosen, scenario.seed, history, verdict, kept)


def _world(spec: TargetSpec, world: World | None) -> World:
    if world == "simulate" and spec.kind != "python":
        what = "a process or a server runs in real time; use --world supervise"
        raise InputError(what, f"target {spec.text!r}")
    return world or ("simulate" if spec.kind == "python" else "supervise")


def cannot_pass(scenario: Scenario, spec: TargetSpec, world: World) -> str:
    """Why the scenario cannot pass through this world with this target; "" when it can."""
    slow = needs_virtual_time(scenario) if world == "supervise" else ""
    if slow:
        return f"needs virtual time: {slow}"
    if worlds.kills(scenario) and spec.kind == "http":
        return "needs a target that can be killed: a server is not ours to end"
    if worlds.kills(scenario) and spec.kind == "python" and not hasattr(os, "fork"):
        return "needs os.fork, to kill a Python target"
    if worlds.bends_the_store(scenario) and spec.kind != "python":
        return "needs brief.store: a program keeps its session in a store of its own"
    return ""


def _not_applicable(scenario: Scenario, spec: TargetSpec, world: World, reason: str) -> Run:
    verdict = Verdict("not_applicable", not_applicable=(NotApplicable("run", reason),))
    return Run(scenario, spec.text, world, scenario.seed, History(), verdict)


@contextmanager
def session_folder() -> Iterator[Path]:
    """A scratch folder for the agent's session, gone when the run is over."""
    folder = Path(tempfile.mkdtemp(prefix="loop-harness-"))
    try:
        yield folder
    finally:
        try:
            folder.rmdir()
        except OSError:  # something is in it
            shutil.rmtree(folder, ignore_errors=True)
