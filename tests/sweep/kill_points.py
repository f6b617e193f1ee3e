"""Kill points: a run is killed at each write of its store in turn, and then resumed.

At a point, `Restarts` makes two attempts: one that ends inside a write, and one more on the same
session. The agent's own files have such points too, without an audit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from harness.checks.judge import judge
from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec, Scenario
from harness.core.transition.ports import Script
from harness.core.values.errors import HarnessError
from harness.core.values.verdict import Verdict
from harness.files.owner import scratch_folder
from harness.runner.forked_target import Attempt, Restarts
from harness.runner.run import Run, run
from harness.stores.opening import OpenStore, open_scratch
from harness.stores.session_store import SessionStore
from harness.stores.store_writes import MOMENTS, Moment, WatchedStore
from harness.targets import TargetSpec
from tests.sweep.write_audit import Acknowledged, WriteAudit, audit_writes


class KillPoint(msgspec.Struct, frozen=True):
    """A moment of a write; writes are counted from 1, in the order of a run without a kill."""

    write: int
    moment: Moment
    name: str

    @property
    def at(self) -> str:
        """The name of the point in a history: `store#7:before`."""
        return f"store#{self.write}:{self.moment}"


class KilledRun(msgspec.Struct, frozen=True):
    """A run that was killed at a point: joined history, verdict, and an audit of the store."""

    point: KillPoint
    history: History
    verdict: Verdict
    audit: WriteAudit


class Watch:
    """The writes of all attempts, in two files: the forked children append to them.

    The first attempt is killed at the point `kill`, if any.
    """

    def __init__(self, folder: Path, kill: KillPoint | None) -> None:
        self._writes, self._kept = folder / "writes", folder / "kept"
        self._kill, self._count = kill, 0

    def of(self, attempt: Attempt, store: SessionStore) -> WatchedStore:
        """The store of an attempt, watched."""

        def tell(name: str, moment: Moment) -> None:
            if moment == "before":
                self._count += 1
                _append(self._writes, name.encode())
            point, kill = (self._count, moment), self._kill
            if kill and not attempt.number and point == (kill.write, kill.moment):
                attempt.die(kill.at)

        return WatchedStore(store, tell, self._acknowledge)

    def _acknowledge(self, name: str, arguments: tuple[Any, ...], result: Any) -> None:
        said = Acknowledged.of(name, arguments, result)
        if said is not None:
            _append(self._kept, msgspec.json.encode(said))

    def writes(self) -> list[str]:
        """The names of the writes."""
        return _lines(self._writes)

    def kept(self) -> list[Acknowledged]:
        """The rows that the store has acknowledged."""
        return [msgspec.json.decode(line, type=Acknowledged) for line in _lines(self._kept)]


def _append(file: Path, line: bytes) -> None:
    with file.open("ab") as opened:
        opened.write(line + b"\n")


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines() if file.exists() else []


def every_kill_point(
    scenario: Scenario,
    target: TargetSpec,
    *,
    script: Script | None = None,
    opener: OpenStore = open_scratch,
) -> Iterator[KilledRun]:
    """Yield the run, killed at each moment of each write of its store, one point after another.

    The store is the one in the target's options, or the one that `opener` opens. Each child process
    starts `script` again. So a script should depend on the conversation and not on its number of
    calls, and repeat its answers from before a kill. Raises HarnessError if the run fails without a
    kill.
    """
    for point in points_of(scenario, target, script, opener):
        yield killed_at(scenario, target, point, script, opener)


def points_of(
    scenario: Scenario,
    target: TargetSpec,
    script: Script | None = None,
    opener: OpenStore = open_scratch,
) -> list[KillPoint]:
    """Every moment of every write of a run without a kill."""
    verdict = run(scenario, target, script=script).verdict  # warms this process for the children
    if verdict.verdict != "pass":
        codes = ", ".join(f.code for f in verdict.failing) or "; ".join(verdict.doubts)
        raise HarnessError(f"{scenario.run_name} does not pass without a kill: {codes}")
    with _restarts(scenario, target, script, opener) as (whole, watch):
        whole.run()
        writes = [*enumerate(watch.writes(), start=1)]
    return [KillPoint(n, moment, name) for n, name in writes for moment in MOMENTS]


def every_own_kill_point(
    scenario: Scenario, target: TargetSpec, *, store: str = ""
) -> Iterator[tuple[KillPoint, Run]]:
    """Yield a run for each moment of each write to the agent's own files, in any language.

    `store` names the agent's own store as READER:PATH, and its rows are judged too.
    """
    for write in count(1):
        points = [KillPoint(write, moment, "file") for moment in MOMENTS]
        killed = [(point, _killed_at_file(scenario, target, point, store)) for point in points]
        met = [(point, done) for point, done in killed if done.history.trace.kills]
        if not met:
            return
        yield from met


def _killed_at_file(scenario: Scenario, target: TargetSpec, point: KillPoint, store: str) -> Run:
    fault = FaultSpec(
        kind="persistence.killed_at_own_write", when=point.write, must_fire=False,
        settings={"point": point.moment},
    )  # fmt: skip
    faulty = msgspec.structs.replace(scenario, faults=(*scenario.faults, fault))
    return run(faulty, target, store=store)


def killed_at(
    scenario: Scenario,
    target: TargetSpec,
    point: KillPoint,
    script: Script | None = None,
    opener: OpenStore = open_scratch,
) -> KilledRun:
    """Return the run that is killed at a point and then started again."""
    with _restarts(scenario, target, script, opener, point) as (restarts, watch):
        history = restarts.run()
        store = restarts.open()
        rows = list(store.read())
        store.close()
        kept = watch.kept()
    return KilledRun(point, history, judge(history), audit_writes(kept, rows))


@contextmanager
def _restarts(
    scenario: Scenario,
    target: TargetSpec,
    script: Script | None,
    opener: OpenStore,
    kill: KillPoint | None = None,
) -> Iterator[tuple[Restarts, Watch]]:
    """Yield a run with watched writes, on a temporary session folder."""
    with scratch_folder() as folder, scratch_folder() as apart:
        watch = Watch(apart, kill)
        restarts = Restarts(
            scenario, target, "simulate", folder, script=script, opener=opener, wrap=watch.of
        )
        try:
            yield restarts, watch
        finally:
            restarts.drop()
