"""The engine without workers: this process runs one task after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from harness.engines import ATTEMPTS, Again, Loose, as_it_was, in_order

ResultT = TypeVar("ResultT")


class Serial:
    """An engine without workers."""

    workers = 1

    def each(
        self,
        work: Callable[[Any], ResultT],
        source: Callable[[], Any],
        *,
        window: int = 1,
        lost: Callable[[Any], ResultT] | None = None,
        again: Again = as_it_was,
        attempts: int = ATTEMPTS,
        loose: Loose = in_order,
        rest: bool = False,
    ) -> Iterator[ResultT]:
        """See `Engine.each`."""
        while (task := source()) is not None:
            yield work(task)
