"""An existing Ray cluster as an engine; needs the extra `ray`.

The task of a lost worker or node is done again. Workers use this process's folder, so relative
paths agree. Nodes need loop-harness, the target's imports, and that folder (shared or in the image)
or a `working_dir` in the runtime environment.
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
"""Ray does not tell how a worker has ended; other programs of the machine may have killed it."""


@dataclass
class _Lease:
    """A task that is under way, and how often it was begun."""

    task: Any
    reference: Any
    tries: int = 1


class Ray:
    """The cluster that the environment names (`RAY_ADDRESS`), or that runs on this machine.

    `workers` is how many tasks are under way at once, None: two for each of its CPUs.
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
        # Ray says who died on standard output, which is for results; its logs say it too.
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
    ) -> Iterator[ResultT]:
        """See `Engine.each`."""
        # A task that ended its worker is another one the next time, so Ray does not repeat it.
        remote = self._ray.remote(max_retries=0, scheduling_strategy="SPREAD", num_cpus=1)(
            _in_folder
        )
        leases: deque[_Lease] = deque()
        under_way: list[Any] = []
        try:
            while True:
                while len(leases) < window and len(under_way) < self.workers:
                    task = source()
                    if task is None:
                        break
                    under_way.append(remote.remote(os.getcwd(), loaded_modules(), work, task))
                    leases.append(_Lease(task, under_way[-1]))
                if not leases:
                    return
                _, under_way = self._ray.wait(under_way, num_returns=1)
                while leases and leases[0].reference not in under_way:
                    lease = leases[0]
                    if self._is_lost(lease.reference) and lease.tries < attempts:
                        lease.tries, lease.task = lease.tries + 1, again(lease.task, _KILLED)
                        lease.reference = remote.remote(
                            os.getcwd(), loaded_modules(), work, lease.task
                        )
                        under_way.append(lease.reference)
                        break
                    yield self._result(leases.popleft(), lost)
        finally:
            self._stop(under_way)

    def _is_lost(self, reference: Any) -> bool:
        """Whether the worker of a task that is over has ended before it was done."""
        try:
            self._ray.get(reference)
        except self._losses():
            return True
        except self._ray.exceptions.RayTaskError:
            return False
        return False

    def _losses(self) -> tuple[type[Exception], ...]:
        errors = self._ray.exceptions
        return (
            errors.WorkerCrashedError,
            errors.NodeDiedError,
            errors.ObjectLostError,
            errors.OutOfMemoryError,
        )

    def _result(self, lease: _Lease, lost: Callable[[Any], Any]) -> Any:
        try:
            return self._ray.get(lease.reference)
        except self._losses():
            return lost(lease.task)
        except self._ray.exceptions.RayTaskError as error:
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
