"""Engines: where work is done that many processes, or many machines, can do.

An engine does the tasks that a source hands it, and gives the results in the order of the tasks. A
task whose worker was lost is done again by another one. So the results do not depend on which
worker did what, on how many there are, or on which one died. Workers load the plug-ins that this
process has loaded. Runs, recordings and the batches of a campaign are all done by the same engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

ResultT = TypeVar("ResultT")

ATTEMPTS = 3
"""How many workers a task may cost before it is given up."""

STOP_S = 10.0
"""How long a worker may take to end what it works on once it is interrupted."""


class Engine(Protocol):
    """Does tasks somewhere."""

    workers: int
    """How many tasks can be under way at once."""

    def each(
        self,
        work: Callable[[Any], ResultT],
        source: Callable[[], Any],
        *,
        window: int,
        lost: Callable[[Any], ResultT],
    ) -> Iterator[ResultT]:
        """`work` of each task, in order, until the source has none and none is under way.

        `work` is a function at module level, tasks and results are plain data. `source` gives the
        next task, None when there is none now; it is asked again after each result. At most
        `window` tasks are handed out whose results were not yet given. `lost` makes the result of a
        task that has cost `ATTEMPTS` workers; it is called in this process, in its place in the
        order, and may use the engine itself, to do parts of the task. Raises what `work` and `lost`
        raise, when all results before it were given.
        """
        ...
