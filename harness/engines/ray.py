"""An existing Ray cluster as an engine; needs the extra `ray`.

The task of a lost worker or node is repeated. Workers use this process's folder, so relative paths
agree. Nodes need loop-harness, the target's imports, and that folder (shared or in the image) or a
`working_dir` in the runtime environment.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.core.values.errors import InputError
from harness.engines import ATTEMPTS, STOP_S, Again, as_it_was
from harness.plugins import load_plugins, loaded_modules

ResultT = TypeVar("ResultT")


_KILLED = -signal.SIGKILL
"""Ray does not report how a worker ended; another program of the machine may have killed it."""

_LOST = object()

# The engine changes a task that ended its worker before it repeats it, so Ray must not repeat it.
_SETTINGS = {"max_retries": 0, "scheduling_strategy": "SPREAD", "num_cpus": 1}


@dataclass
class _Lease:
    """A running task, and the number of its starts."""

    task: Any
    reference: Any
    tries: int = 1


class Ray:
    """The cluster that the environment names (`RAY_ADDRESS`), or that runs on this machine.

    `workers` is the number of tasks that run at once; None means two for each of its CPUs.
    """

    def __init__(self, workers: int | None = None, address: str = "auto") -> None:
        """Connect. Raises InputError without the package, and without a cluster."""
        try:
            import ray
            import ray._private.worker
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
        # Ray reports dead workers on standard output, which is for results; its logs have the same
        # reports.
        ray._private.worker._worker_logs_enabled = False
        self._ray: Any = ray
        self.workers = workers or max(2, 2 * int(self._ray.cluster_resources().get("CPU", 1)))

    def each(
        self,
        work: Callable[[Any], ResultT],
        source: Callable[[], Any],
        *,
        window: int,
        lost: Callable[[Any], ResultT],
        again: Again = as_it_was,
        attempts: int = ATTEMPTS,
        **_: Any,
    ) -> Iterator[ResultT]:
        """See `Engine.each`."""
        remote = self._ray.remote(**_SETTINGS)(_in_folder)
        leases: deque[_Lease] = deque()
        under_way: list[Any] = []

        def begin(task: Any) -> Any:
            under_way.append(remote.remote(os.getcwd(), loaded_modules(), work, task))
            return under_way[-1]

        try:
            while True:
                while len(leases) < window and len(under_way) < self.workers:
                    if (task := source()) is None:
                        break
                    leases.append(_Lease(task, begin(task)))
                if not leases:
                    return
                under_way[:] = self._ray.wait(under_way, num_returns=1)[1]
                while leases and leases[0].reference not in under_way:
                    lease = leases[0]
                    result = self._result(lease.reference)
                    if result is _LOST and lease.tries < attempts:
                        lease.tries, lease.task = lease.tries + 1, again(lease.task, _KILLED)
                        lease.reference = begin(lease.task)
                        continue
                    leases.popleft()
                    yield lost(lease.task) if result is _LOST else result
        finally:
            self._stop(under_way)

    def _result(self, reference: Any) -> Any:
        """The result of a finished task; `_LOST` if its worker ended before the task."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except (
            errors.WorkerCrashedError,
            errors.NodeDiedError,
            errors.ObjectLostError,
            errors.OutOfMemoryError,
        ):
            return _LOST
        except errors.RayTaskError as error:
            raise (error.cause or error) from None

    def _stop(self, references: list[Any]) -> None:
        for reference in references:
            self._ray.cancel(reference)
        if references:
            self._ray.wait(references, num_returns=len(references), timeout=STOP_S)


def _in_folder(
    folder: str, plugins: Sequence[str], work: Callable[[Any], ResultT], task: Any
) -> ResultT:
    try:
        os.chdir(folder)
    except OSError as error:
        import ray

        if not ray.get_runtime_context().runtime_env.get("working_dir"):
            node = socket.gethostname()
            what = f"the node {node} cannot work in {folder}: {error.strerror}"
            raise InputError(what, "--engine ray") from None
    load_plugins(*plugins)
    return work(task)
