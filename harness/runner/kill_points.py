"""Kill points: a run is killed at a write of its store, once for every write, and goes on.

The target runs in a forked child of this process, which has imported all it needs, so a point
costs as much as its run and no more. The child writes its history to a file before anything of a
step is carried out, and ends itself with SIGKILL in the middle of a write: nothing is flushed,
closed or caught. The parent looks at what the store kept, and forks the next child on the same
session; there the inbox hands out again what was not confirmed. The joined history is judged like
any other. Fork where no other thread runs.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from harness.checks.judge import judge
from harness.core.errors import HarnessError
from harness.core.events import Answered
from harness.core.history import History, decode
from harness.core.ports import Script
from harness.core.scenario import Scenario
from harness.core.verdict import Verdict
from harness.runner.forked import ACKNOWLEDGED, BROKEN, HISTORY, WRITES, Attempt, Child
from harness.runner.kept import Acknowledged, Kept, kept
from harness.runner.run import run, session_folder
from harness.runner.session import StoreWatch
from harness.stores.open import OpenStore, drop_scratch, open_scratch
from harness.stores.rows import SessionStore
from harness.stores.watched import MOMENTS, Moment
from harness.targets import TargetSpec


class KillPoint(msgspec.Struct, frozen=True):
    """A moment of a write; writes are counted from 1 in the order of the run that is not killed."""

    write: int
    moment: Moment
    name: str

    @property
    def at(self) -> str:
        """The name of the point in a history: `store#7:before`."""
        return f"store#{self.write}:{self.moment}"


class Killed(msgspec.Struct, frozen=True):
    """A run that was killed at a point: its joined history and verdict, and what the store kept."""

    point: KillPoint
    history: History
    verdict: Verdict
    kept: Kept


def every_kill_point(
    scenario: Scenario,
    target: TargetSpec,
    *,
    script: Script | None = None,
    opener: OpenStore = open_scratch,
) -> Iterator[Killed]:
    """The run, killed at every moment of every write of its store, one point after the other.

    The store is the one that the target's options name, or what `opener` opens. `script` is asked
    in every child anew, so it should go by the conversation and not by how often it was asked: what
    the model said before a kill it has to say again. Raises HarnessError when the run fails by
    itself, without a kill.
    """
    for point in points_of(scenario, target, script, opener):
        yield killed_at(scenario, target, point, script, opener)


def points_of(
    scenario: Scenario,
    target: TargetSpec,
    script: Script | None = None,
    opener: OpenStore = open_scratch,
) -> list[KillPoint]:
    """Every moment of every write of a run that nobody kills."""
    verdict = run(scenario, target, script=script).verdict  # warms this process for the children
    if verdict.verdict != "pass":
        codes = ", ".join(f.code for f in verdict.findings) or "; ".join(verdict.doubts)
        raise HarnessError(f"{scenario.run_name} does not pass without a kill: {codes}")
    with session_folder() as folder:
        session = _Session(scenario, target, folder, script, opener)
        try:
            session.run(None)
        finally:
            session.drop()
    writes = enumerate(session.writes, start=1)
    return [KillPoint(n, moment, name) for n, name in writes for moment in MOMENTS]


def killed_at(
    scenario: Scenario,
    target: TargetSpec,
    point: KillPoint,
    script: Script | None = None,
    opener: OpenStore = open_scratch,
) -> Killed:
    """The run that is killed at a point and then started again."""
    with session_folder() as folder:
        session = _Session(scenario, target, folder, script, opener)
        try:
            session.run(point)
            rows = session.rows()
        finally:
            session.drop()
    return Killed(point, session.history, judge(session.history), kept(session.kept, rows))


class _Session:
    """One session folder, the attempts on it, and their joined history."""

    def __init__(
        self,
        scenario: Scenario,
        target: TargetSpec,
        folder: Path,
        script: Script | None,
        opener: OpenStore,
    ) -> None:
        self.scenario, self.target, self.folder, self.script = scenario, target, folder, script
        self.opener = opener
        self.history = History()
        self.writes: list[str] = []
        self.kept: list[Acknowledged] = []

    def run(self, point: KillPoint | None) -> None:
        """Run to the end, from the start once more after the kill."""
        if self._attempt(0, point):
            self._attempt(1, None)

    def _attempt(self, number: int, point: KillPoint | None) -> bool:
        """One child; whether it was killed. Raises HarnessError when the harness broke in it."""
        out = self.folder / f"attempt-{number}"
        out.mkdir()
        attempt = Attempt(
            self.scenario,
            self.target,
            self.folder,
            self.script,
            self.opener,
            self.history,
            number,
            out,
            (point.write, point.moment) if point else None,
        )
        child = os.fork()
        if not child:
            Child(attempt).live()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        self._take(out)
        if code == -signal.SIGKILL and point is not None:
            self._record_kill(point)
            return True
        if code:
            broken = out / BROKEN
            text = broken.read_text() if broken.exists() else f"exit status {code}"
            raise HarnessError(f"a child of {self.scenario.run_name} broke: {text}")
        return False

    def _take(self, out: Path) -> None:
        for event in decode((out / HISTORY).read_bytes()).events:
            self.history.take(event)
        self.writes += (out / WRITES).read_text().split()
        lines = (out / ACKNOWLEDGED).read_bytes().splitlines()
        self.kept += [msgspec.json.decode(line, type=Acknowledged) for line in lines]

    def _record_kill(self, point: KillPoint) -> None:
        events = self.history.events
        last = next((e for e in reversed(events) if isinstance(e, Answered)), None)
        where = {"session": last.session, "turn": last.turn} if last else {}
        at_ms = max(event.at_ms for event in events)
        self.history.killed(at_ms=at_ms, at=point.at, **where)
        store = self._open()
        StoreWatch(store, self.history).look(at_ms)
        store.close()

    def _open(self) -> SessionStore:
        return self.opener(self.target.options, self.folder)

    def rows(self) -> list[Any]:
        """What the store holds in the end."""
        store = self._open()
        try:
            return list(store.read())
        finally:
            store.close()

    def drop(self) -> None:
        """Remove what is not in the folder."""
        store = self._open()
        drop_scratch(store)
        store.close()
