"""One attempt of a run in a forked child, which may end itself in the middle of a store write.

Everything that the parent has to know afterwards is in files by then: each event of the history
before its step is carried out, each write of the store as it begins, and each as it returns. The
kernel keeps what was written to a file, however the writer ends.
"""

from __future__ import annotations

import os
import signal
import traceback
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import msgspec

from harness.core.events import Answered, AnyEvent
from harness.core.history import History, encode
from harness.core.ports import Script
from harness.core.scenario import Scenario
from harness.runner import prepare
from harness.runner.kept import Acknowledged
from harness.runner.session import OwnStore, seed_messages
from harness.runner.worlds import simulated
from harness.stores.open import OpenStore
from harness.stores.rows import SessionStore
from harness.stores.watched import Moment, WatchedStore
from harness.targets import TargetSpec

HISTORY, WRITES, ACKNOWLEDGED = "history.jsonl", "writes", "acknowledged.jsonl"
BROKEN = "broken"
"""What a child leaves in its folder: three files, and a fourth when the harness itself broke."""


class Attempt(NamedTuple):
    """An attempt: what is run, on which session and history, and at which moment of which write of
    the store it is killed, if at any. `out` is the folder for its files."""

    scenario: Scenario
    target: TargetSpec
    folder: Path
    script: Script | None
    opener: OpenStore
    history: History
    number: int
    out: Path
    kill: tuple[int, Moment] | None


class Child:
    """What the forked child does: it never returns into the parent's code."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt, self._count, self._recording = attempt, 0, False
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._events, self._writes, self._kept = (
            os.open(attempt.out / name, flags, 0o600) for name in (HISTORY, WRITES, ACKNOWLEDGED)
        )

    def live(self) -> NoReturn:
        """Run the target and end the process, whatever happens."""
        try:
            self._run()
        except BaseException:
            (self._attempt.out / BROKEN).write_text(traceback.format_exc())
            os._exit(1)
        os._exit(0)

    def _run(self) -> None:
        attempt = self._attempt
        transition = prepare.transition_for(attempt.scenario, attempt.script, sink=self._record)
        for event in attempt.history.events:
            transition.history.take(event)
        for fault in transition.faults:
            fault.fired = _fired(attempt.history, fault.spec.kind)
        self._recording = True
        prepare.start(transition, attempt.target, "simulate", attempt.number, store=False)
        messages = seed_messages(attempt.scenario)
        own = OwnStore(
            transition,
            attempt.folder,
            messages,
            attempt.target.options,
            wrap=self._watched,
            opener=attempt.opener,
        )
        simulated(transition, attempt.target, attempt.folder, own)
        own.close(keep=True)

    def _record(self, event: AnyEvent) -> None:
        if self._recording:
            os.write(self._events, encode((event,)))

    def _watched(self, store: SessionStore) -> Any:
        return WatchedStore(store, self._tell, self._acknowledge)

    def _tell(self, name: str, moment: Moment) -> None:
        if moment == "before":
            self._count += 1
            os.write(self._writes, f"{name}\n".encode())
        if self._attempt.kill == (self._count, moment):
            os.kill(os.getpid(), signal.SIGKILL)

    def _acknowledge(self, name: str, arguments: tuple[Any, ...], result: Any) -> None:
        said = Acknowledged.of(name, arguments, result)
        if said is not None:
            os.write(self._kept, msgspec.json.encode(said) + b"\n")


def _fired(history: History, kind: str) -> int:
    """How often a fault has bent an answer so far."""
    answers = (event for event in history.events if isinstance(event, Answered))
    return sum(answer.faults.count(kind) for answer in answers)
