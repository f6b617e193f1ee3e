"""When a campaign of files or of cases ends, and how much processor time one of them may cost."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NamedTuple


class Limits(NamedTuple):
    """When a campaign ends: after a given number of cases, or of seconds."""

    count: int
    seconds: float = float("inf")


class TookTooLong(BaseException):
    """A case used more than its processor time."""


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TookTooLong


@contextmanager
def processor_time(most_s: float) -> Iterator[None]:
    """Raise TookTooLong within the block once it has used so much processor time."""
    signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, most_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
