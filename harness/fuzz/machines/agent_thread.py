"""Drives an agent in its own thread, one step at a time, until it ends or is killed.

The agent pulls messages and the machine pushes steps, so the agent's thread waits in its inbox.
Exactly one thread runs at a time. A step takes microseconds, a replay a whole run.

A kill is an exception that no agent catches. After it, the agent cannot reach the world.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import Any

from harness.clock import RealWaitMeter, VirtualClock, run_async, virtual_event_loops, virtual_time
from harness.core.values.errors import RunStopped

REAL_S = 30.0
"""How long an asynchronous agent may wait in real time before it counts as hung."""


class Died(BaseException):
    """Kills the agent at this point."""


class AgentThread:
    """An agent in a thread. `live` runs in it; it stops in `wait` and continues in `go_on`."""

    def __init__(self, live: Callable[[], Any], clock: VirtualClock) -> None:
        self._live, self._clock = live, clock
        self._turn, self._back = threading.Lock(), threading.Lock()
        self._turn.acquire()
        self._back.acquire()
        self.is_dying = self.is_over = self.is_running = False
        self.is_asynchronous, self.crash = False, ""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def go_on(self) -> None:
        """Let the agent run until it waits again, ends or dies."""
        if self.is_over:
            return
        with (
            virtual_time(self._clock, self._thread, goes_on=True),
            virtual_event_loops(self._clock, check=self._in_time),
        ):
            self.is_running = True
            self._turn.release()
            self._back.acquire()
            self.is_running = False
        if self.is_over:
            self._thread.join()

    def end(self) -> None:
        """Kill the agent where it waits."""
        self.is_dying = True
        self.go_on()

    def wait(self) -> None:
        """Wait, in the agent's thread, until there is work or a kill."""
        self._back.release()
        self._turn.acquire()

    def check(self) -> None:
        """Raise, in the agent's thread, for an agent that is being killed."""
        if self.is_dying:
            raise Died

    def die(self) -> None:
        """Kill the agent, in its own thread."""
        self.is_dying = True
        raise Died

    def _run(self) -> None:
        self._turn.acquire()
        self._meter = RealWaitMeter()
        try:
            result = self._live()
            if inspect.isawaitable(result):
                self.is_asynchronous = True
                run_async(lambda: _awaited(result), self._clock, check=self._in_time)
        except Died:
            pass
        except RunStopped as stopped:
            self.crash = f"stopped: {stopped}"
        except BaseException as error:
            self.crash = f"{type(error).__name__}: {error}"
        self.is_over = True
        self._back.release()

    def _in_time(self) -> None:
        if self._meter.waited_s > REAL_S:
            raise RunStopped(f"the agent waited more than {REAL_S:g} s in real time")


async def _awaited(result: Any) -> Any:
    return await result
