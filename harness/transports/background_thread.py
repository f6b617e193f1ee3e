"""A thread beside the main one, which alone takes signals.

Linux hands a signal of the process to any thread that does not block it. Python then notes it, but
a main thread that waits in the kernel goes on waiting: Ctrl-C would be taken when the wait is over.
"""

from __future__ import annotations

import signal
import threading

from harness.clock.thread_times import leave_out
from harness.processes.machine import own_call

_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGIO, signal.SIGALRM)
"""The signals by which this process, or a run, is ended."""


class BackgroundThread(threading.Thread):
    """A daemon thread that leaves the signals to the main thread."""

    def start(self) -> None:
        """Start it. Raises MachineLacks if the system has no thread left."""
        with own_call():
            super().start()

    def run(self) -> None:
        """Do the work, with these signals blocked; its time is not the run's."""
        leave_out()
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
        super().run()
