"""One attempt of a run in a forked child, which may end itself in the middle of a step.

Everything that the parent has to know afterwards is in files by then: each event of the history
before its step is carried out, how often each fault has fired, each write of the store as it
begins, and each as it returns. The kernel keeps what was written to a file, however the writer
ends. The child works on its own copy of the parent's transition, which holds all attempts so far.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import msgspec

from harness.core.history.events import Answered, AnyEvent
from harness.core.history.history import encode
from harness.core.transition.transition import Transition
from harness.core.values.errors import InputError
from harness.runner.at_hand import attempt
from harness.runner.kept import Acknowledged
from harness.runner.session import OwnStore, seed_messages
from harness.stores.open import OpenStore
from harness.stores.rows import SessionStore
from harness.stores.watched import Moment, WatchedStore
from harness.targets import TargetSpec

HISTORY, FIRED, WRITES, ACKNOWLEDGED = "history.jsonl", "fired.jsonl", "writes", "acknowledged"
"""What a child leaves in its folder, line by line."""

BROKEN, REFUSED = "broken", "refused.json"
"""Why a child did not come to an end: the harness itself broke, or an error of the user's files."""


class Tape:
    """Where the events of a history go; nowhere before a child takes it."""

    def __init__(self) -> None:
        self.record: Callable[[AnyEvent], None] = lambda event: None

    def __call__(self, event: AnyEvent) -> None:
        """Record an event."""
        self.record(event)


class Attempt(NamedTuple):
    """An attempt: what is run, in which world and on which session, and at which moment of which
    write of the store it is killed, if at any. `out` is the folder for its files; the writes of the
    store are told of only if it is `watched`."""

    transition: Transition
    tape: Tape
    target: TargetSpec
    world: str
    folder: Path
    store: str
    opener: OpenStore
    number: int
    out: Path
    watched: bool = False
    kill: tuple[int, Moment] | None = None


class Child:
    """What the forked child does: it never returns into the parent's code."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt, self._count = attempt, 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._events, self._fired, self._writes, self._kept = (
            os.open(attempt.out / name, flags, 0o600)
            for name in (HISTORY, FIRED, WRITES, ACKNOWLEDGED)
        )

    def live(self) -> NoReturn:
        """Run the target and end the process, whatever happens."""
        try:
            self._run()
        except InputError as error:
            said = msgspec.json.encode([error.what, error.place])
            (self._attempt.out / REFUSED).write_bytes(said)
            os._exit(2)
        except BaseException:
            (self._attempt.out / BROKEN).write_text(traceback.format_exc())
            os._exit(1)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)

    def _run(self) -> None:
        plan = self._attempt
        plan.tape.record = self._record
        own = OwnStore(
            plan.transition,
            plan.folder,
            seed_messages(plan.transition.scenario),
            plan.target.options,
            wrap=self._watched if plan.watched else None,
            opener=plan.opener,
        )
        attempt(
            plan.transition,
            plan.target,
            plan.world,
            plan.folder,
            own,
            store=plan.store,
            number=plan.number,
            on_kill=die,
        )
        own.close(keep=True)

    def _record(self, event: AnyEvent) -> None:
        os.write(self._events, encode((event,)))
        if isinstance(event, Answered) and event.faults:
            fired = [fault.fired for fault in self._attempt.transition.faults]
            os.write(self._fired, msgspec.json.encode(fired) + b"\n")

    def _watched(self, store: SessionStore) -> Any:
        return WatchedStore(store, self._tell, self._acknowledge)

    def _tell(self, name: str, moment: Moment) -> None:
        if moment == "before":
            self._count += 1
            os.write(self._writes, f"{name}\n".encode())
        if self._attempt.kill == (self._count, moment):
            die()

    def _acknowledge(self, name: str, arguments: tuple[Any, ...], result: Any) -> None:
        said = Acknowledged.of(name, arguments, result)
        if said is not None:
            os.write(self._kept, msgspec.json.encode(said) + b"\n")


def die() -> None:
    """End this process as `kill -9` does: nothing is flushed, closed or caught."""
    os.kill(os.getpid(), signal.SIGKILL)
