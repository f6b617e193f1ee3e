"""Dates of a run: `datetime.now()` and what else reads the wall clock inside C.

A replaced name in the module `time` reaches none of them. A deadline of dates would never pass, and
a prompt would name the day of the machine. `time-machine` replaces the functions in C, for the
whole process; `REAL` holds the ones that go on to tell real time.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import time_machine
    from time_machine import Traveller
else:
    # It imports pytest for a fixture, which takes 0.09 s of the 0.3 s that a process of a command
    # needs. So it does not find pytest here, unless this process has imported that already.
    STANDS_IN = sys.modules.setdefault("pytest", None) is None
    try:
        time_machine = importlib.import_module("time_machine")
    finally:
        if STANDS_IN:
            del sys.modules["pytest"]


def _of_the_machine(shown: Callable[[], Any], real: Callable[[], Any]) -> Callable[[], Any]:
    def read() -> Any:
        try:
            return real()
        except ValueError:  # it refuses to read while no dates are shown, and then `shown` is real
            return shown()

    return read


REAL: dict[str, Callable[[], Any]] = {
    "time": _of_the_machine(time.time, time_machine.escape_hatch.time.time),
    "time_ns": _of_the_machine(time.time_ns, time_machine.escape_hatch.time.time_ns),
}
"""The wall clock of the machine, also while dates of a run are shown."""


class WallDates:
    """The dates that C shows; they follow the wall clock of a run by `move_to`."""

    def __init__(self) -> None:
        self._traveller: Traveller | None = None
        self._shown_us = 0

    @contextmanager
    def shown(self, wall_us: int) -> Iterator[None]:
        """Show a moment, in microseconds since 1970, and those that follow, in the block."""
        # Whole seconds first, since a float of today's seconds would round the microseconds.
        journey = time_machine.travel(wall_us // 1_000_000, tick=False)
        try:
            self._traveller = journey.start()
        except RuntimeError:  # freezegun is active in the user's test: dates stay those it shows
            yield
            return
        self._shown_us = wall_us // 1_000_000 * 1_000_000
        try:
            self.move_to(wall_us)
            yield
        finally:
            self._traveller = None
            journey.stop()

    def move_to(self, wall_us: int) -> None:
        """Show this moment, if dates are shown."""
        if self._traveller is not None:
            self._traveller.shift(timedelta(microseconds=wall_us - self._shown_us))
            self._shown_us = wall_us
