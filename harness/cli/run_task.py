"""One run as a task: plain data in and a summary out, for any process.

A Python target plays in a forked child of its worker, which has imported it and played nothing. So
no run meets what another one left in modules. If a worker ends during a run, the run is played
again in a forked child of another worker. If that child ends during the target's call, the target
has ended it.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from harness.core.scenario.scenario import Scenario
from harness.core.values.verdict import Verdict
from harness.engines import Engine, ordered_map
from harness.verdicts.result import Invocation, Result, summarize

if TYPE_CHECKING:
    from harness.targets.output_capture import CaptureMode


class RunTask(msgspec.Struct, frozen=True, kw_only=True):
    """A run to be played; `asked` is its path as the user wrote it.

    `keep`: the session folder of a failing run stays. `ends`: the exit statuses of the worker
    processes that ended in this run. `isolate`: a forked child calls the target. `capture`: what of
    the target's output is kept, and shown with a run that fails.
    """

    scenario: Scenario
    asked: Invocation
    world: Literal["simulate", "supervise"] | None = None
    seed: int | None = None
    out: str
    keep: bool = False
    ends: tuple[int, ...] = ()
    isolate: bool = False
    capture: CaptureMode = "fd"


def play(task: RunTask) -> Result:
    """Play a run, write its history below `out`, and return its summary for the report.

    What the target prints as it is imported was seen when the command imported it.
    """
    from harness.runner import run
    from harness.runner.run import rehearse
    from harness.targets.output_capture import captured
    from harness.targets.process_exits import make_worker_replaceable
    from harness.targets.spec import resolve

    make_worker_replaceable()
    begun_s = time.monotonic()
    with captured("no" if task.capture == "no" else "fd"):
        target = resolve(task.asked.target)
    if apart := target.may_keep_state:
        rehearse(task.scenario.wire, task.scenario.stream, target)
    with redirect_stdout(sys.stderr):
        played = run(
            task.scenario,
            target,
            world=task.world,
            seed=task.seed,
            out=Path(task.out),
            store=task.asked.store,
            isolate=task.isolate or apart,
            keep=task.keep,
            capture=task.capture,
        )
    took_s = time.monotonic() - begun_s
    summary = msgspec.structs.replace(summarize(played, task.asked), real_s=took_s)
    if summary.word != "pass" or not _own_ends(task):
        return summary
    said = f"the process of this run ended with {_words(task.ends)}; played again, it did not"
    return summary.doubted(said)


_OUTSIDE = (-signal.SIGKILL, -signal.SIGTERM)
"""Exit statuses of a worker that other programs of the machine may cause."""


def _own_ends(task: RunTask) -> bool:
    return any(status not in _OUTSIDE for status in task.ends)


def _words(ends: tuple[int, ...]) -> str:
    return ", ".join(
        f"status {status}" if status >= 0 else f"signal {signal.Signals(-status).name}"
        for status in dict.fromkeys(ends)
    )


class RunTasks:
    """The tasks of a command, in order.

    After a worker has ended in a run, that run and all later ones are isolated: a new worker costs
    more than a forked child.
    """

    def __init__(self, tasks: Sequence[RunTask]) -> None:
        self._tasks, self._isolate = tasks, False

    def __iter__(self) -> Iterator[RunTask]:
        for task in self._tasks:
            yield msgspec.structs.replace(task, isolate=True) if self._isolate else task

    def again(self, task: RunTask, status: int) -> RunTask:
        """Return the task that repeats a run whose worker has ended."""
        self._isolate = True
        return msgspec.structs.replace(task, ends=(*task.ends, status), isolate=True)


def played(tasks: Sequence[RunTask], engine: Engine) -> Generator[Result]:
    """Play the tasks of a command; yield their summaries, in order."""
    planned = RunTasks(tasks)
    return ordered_map(engine, play, planned, lost_run, planned.again)


def lost_run(task: RunTask) -> Result:
    """Return the summary of a run that ended each worker: its verdict is unknown."""
    how = f" with {_words(task.ends)}" if task.ends else ""
    doubt = f"each worker process that played this run ended{how}; no history is left"
    return Result(
        name=task.scenario.run_name,
        scenario=task.scenario.name,
        title=task.scenario.title,
        target=task.asked.target,
        world=task.world or "",
        seed=task.scenario.seed if task.seed is None else task.seed,
        verdict=Verdict("unknown", doubts=(doubt,)),
    )
