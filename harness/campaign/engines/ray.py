"""A Ray cluster that is there already: each of its nodes plays what it is leased.

Ray itself notices a lost worker or node and runs its task again; results are fetched in the order
of the tasks. The nodes need what the target imports: the same machine image, or a `working_dir` in
the cluster's runtime environment. The package is the extra `ray`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from harness.campaign.engines import ATTEMPTS
from harness.core.errors import InputError

ResultT = TypeVar("ResultT")


class Ray:
    """The cluster that the environment names (`RAY_ADDRESS`), or that runs on this machine.

    `workers` is how many tasks are under way at once, None: two for each of its CPUs.
    """

    def __init__(self, workers: int | None = None, address: str = "auto") -> None:
        """Connect. Raises InputError without the package, and without a cluster."""
        try:
            import ray
            import ray.exceptions
        except ImportError as error:
            what = f"Ray is not installed: pip install 'loop-harness[ray]' ({error})"
            raise InputError(what, "--engine ray") from error
        if not ray.is_initialized():
            try:
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
            except (ConnectionError, ValueError, RuntimeError) as error:
                what = f"no Ray cluster: begin one with `ray start --head` ({error})"
                raise InputError(what, "--engine ray") from None
        self._ray: Any = ray
        self.workers = workers or max(2, 2 * int(self._ray.cluster_resources().get("CPU", 1)))

    def each(
        self,
        work: Callable[[Any], ResultT],
        source: Callable[[], Any],
        *,
        window: int,
        lost: Callable[[Any], ResultT],
    ) -> Iterator[ResultT]:
        """See `Engine.each`."""
        remote = self._ray.remote(
            max_retries=ATTEMPTS - 1, scheduling_strategy="SPREAD", num_cpus=1
        )(work)
        leases: deque[tuple[Any, Any]] = deque()
        try:
            while True:
                while len(leases) < min(window, self.workers):
                    task = source()
                    if task is None:
                        break
                    leases.append((task, remote.remote(task)))
                if not leases:
                    return
                yield self._result(*leases[0], lost)
                leases.popleft()
        finally:
            for _, reference in leases:
                self._ray.cancel(reference)

    def _result(self, task: Any, reference: Any, lost: Callable[[Any], Any]) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.ObjectLostError):
            return lost(task)
        except errors.RayTaskError as error:
            raise (error.cause or error) from None
