"""Ctrl-C and SIGTERM: a command ends in order, and writes its last files whole."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from harness.core.values.errors import Interrupted

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Terminated(Interrupted):
    """SIGTERM arrived: the command ends as after Ctrl-C, with its own exit status."""


@contextmanager
def orderly_end() -> Iterator[None]:
    """In the block, Ctrl-C raises `Interrupted`, and the first SIGTERM `Terminated`.

    So the command can write and print its results so far. Signals that are ignored, or that other
    code handles, stay as they are.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Terminated

    usual: dict[signal.Signals, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
    }
    ours = {signal.SIGINT: interrupt, signal.SIGTERM: end}
    taken = [n for n in _SIGNALS if _is_main() and signal.getsignal(n) is usual[n]]
    for number in taken:
        signal.signal(number, ours[number])
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, usual[number])


@contextmanager
def deferred() -> Iterator[None]:
    """In the block, a signal waits; it is raised at the end, unless an error ends the block."""
    if not _is_main():
        yield
        return
    come: list[int] = []

    def wait(number: int, frame: FrameType | None) -> None:
        come.append(number)

    former = {n: h for n in _SIGNALS if (h := signal.getsignal(n)) is not None}
    for name in former:
        signal.signal(name, wait)
    try:
        yield
    finally:
        for name, handler in former.items():
            signal.signal(name, handler)
    for number in come[:1]:
        signal.raise_signal(number)


def end_with(status: int) -> None:
    """From now on a signal ends this process at once, with a known status."""

    def leave(number: int, frame: FrameType | None) -> None:
        os._exit(status)

    if _is_main():
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, leave)


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()
