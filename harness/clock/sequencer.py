"""One order for blocks of a user's own test, whichever threads or tasks come to them.

It works without a run and on any clock, as it only holds back what comes too early. `orders` of a
scenario choose among what waits at the harness; here the places stand in the user's own code. A
block that waits for one that never comes is a mistake in the test, so the wait has a limit of real
time.
"""

from __future__ import annotations

import threading

import anyio
import anyio.to_thread

from harness.core.values.errors import InputError

WAIT_S = 10.0


class Sequencer:
    """Lets blocks run one after the other, by their places from 0: `with in_turn(1):`.

    `async with` does so in tasks of asyncio and trio. A block that fails or is cancelled has had
    its turn. Raises InputError for a place below 0, and for one that is entered twice. It is also
    raised where an earlier place was not left within `wait_s` seconds of real time.
    """

    def __init__(self, *, wait_s: float = WAIT_S) -> None:
        self._wait_s = wait_s
        self._changed = threading.Condition()
        self._entered = set[int]()
        self._left = set[int]()
        self._next = 0

    def __call__(self, place: int) -> Place:
        """The block at a place, to be entered once."""
        return Place(self, place)

    def _enter(self, place: int) -> None:
        with self._changed:
            if type(place) is not int or place < 0:
                raise InputError(f"a place is a number from 0, not {place!r}", "Sequencer")
            if place in self._entered:
                raise InputError(f"place {place} was entered before", "Sequencer")
            self._entered.add(place)

    def _is_next(self, place: int) -> bool:
        return self._next >= place

    def _wait(self, place: int) -> None:
        """Wait in this thread for the turn of a place, or until it has been given up."""
        with self._changed:
            if self._changed.wait_for(lambda: self._is_next(place), self._wait_s):
                return
            missing, is_open = self._next, self._next in self._entered
        self._leave(place)
        why = "is still open" if is_open else "was not entered: do the two run side by side?"
        after = f"after {self._wait_s:g} s"
        raise InputError(
            f"place {place} waits for place {missing}, which {why} ({after})", "Sequencer"
        )

    async def _wait_in_task(self, place: int) -> None:
        if not self._is_next(place):
            await anyio.to_thread.run_sync(self._wait, place, abandon_on_cancel=True)

    def _leave(self, place: int) -> None:
        with self._changed:
            self._left.add(place)
            while self._next in self._left:
                self._next += 1
            self._changed.notify_all()


class Place:
    """One block of a `Sequencer`, in a thread or in a task."""

    def __init__(self, sequencer: Sequencer, place: int) -> None:
        self._sequencer, self._place = sequencer, place

    def __enter__(self) -> None:
        """Wait in this thread until all earlier places were left."""
        self._sequencer._enter(self._place)
        self._sequencer._wait(self._place)

    def __exit__(self, *error: object) -> None:
        """Let the next place begin."""
        self._sequencer._leave(self._place)

    async def __aenter__(self) -> None:
        """Wait in this task until all earlier places were left."""
        self._sequencer._enter(self._place)
        try:
            await self._sequencer._wait_in_task(self._place)
        except BaseException:  # a cancelled task has had its turn, as one that fails in its block
            self._sequencer._leave(self._place)
            raise

    async def __aexit__(self, *error: object) -> None:
        """Let the next place begin."""
        self._sequencer._leave(self._place)
