"""Engines: where the work of a campaign is done.

An engine does tasks that a source hands it, and gives the results back in the order of the tasks. A
task whose worker was lost is done again by another one, so what comes out does not depend on who
did it, on how many there are, or on who died.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

ResultT = TypeVar("ResultT")

ATTEMPTS = 3
"""How many workers a task may cost before it is given up."""


class Engine(Protocol):
    """Does tasks somewhere."""

    def each(
        self,
        work: Callable[[Any], ResultT],
        source: Callable[[], Any],
        *,
        window: int,
        lost: Callable[[Any], ResultT],
    ) -> Iterator[ResultT]:
        """`work` of each task, in order, until the source has none and none is under way.

        `work` and `lost` are functions at module level, tasks and results plain data. `source`
        gives the next task, None when there is none now; it is asked again after each result. At
        most `window` tasks are handed out whose results were not yet given. `lost` is the result of
        a task that has cost `ATTEMPTS` workers. Raises what `work` raises.
        """
        ...
