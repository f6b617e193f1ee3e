"""One run as a task: plain data in and a summary out, for any process."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Literal

import msgspec

from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import HarnessError
from harness.report.run_summary import Invocation, RunSummary, summarize


class RunTask(msgspec.Struct, frozen=True, kw_only=True):
    """A run to be played; `asked` is how the user asked for it."""

    scenario: Scenario
    asked: Invocation
    world: Literal["simulate", "supervise"] | None = None
    seed: int | None = None
    out: str


def play(task: RunTask) -> RunSummary:
    """Play a run, write its history below `out`, and return what a report needs of it.

    What the agent prints goes to standard error: standard output is the report's.
    """
    from harness.runner import run
    from harness.targets.spec import resolve

    with redirect_stdout(sys.stderr):
        played = run(
            task.scenario,
            resolve(task.asked.target),
            world=task.world,
            seed=task.seed,
            out=Path(task.out),
            store=task.asked.store,
        )
    return summarize(played, task.asked)


def lost_run(task: RunTask) -> RunSummary:
    """Raise HarnessError: nothing is known of a run that ends each process that plays it."""
    run = task.scenario.run_name
    raise HarnessError(f"a worker process died of the run {run}, each time; -j 1 shows how")
