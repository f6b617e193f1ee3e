"""Who makes the environment, and when: the first tool that needs it, once for each task.

The tools of a task share it, so whoever comes first decides what it is for as long as it lives.
That is why no tool says anything about it: the specification is the same whichever is first
(hermes-agent #84027: file and code tools built one with keys left out). Two tools that come at
once wait for one another; a creation that fails is no environment, and the next tool tries again.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, Protocol

from harness.agent.environment.spec import EnvironmentSpec

USERS = frozenset({"terminal", "file", "code"})
"""The tools that work in the environment."""


class Backend(Protocol):
    """What makes environments."""

    def create(self, spec: EnvironmentSpec, /) -> Any:
        """A new environment; what it raises is the result of the tool that asked for it."""
        ...


class Environments:
    """One environment for each task. `settings` gives the specification when it is first needed."""

    def __init__(self, backend: Backend | None, settings: Callable[[], EnvironmentSpec]) -> None:
        self.backend, self.settings = backend, settings
        self._made: dict[str, Any] = {}
        self._locks: dict[str, Lock] = {}
        self._lock = Lock()

    def ready(self, task: str, tool: str) -> Any:
        """The environment of the task, made if there is none yet; None for a tool without one."""
        if self.backend is None or tool not in USERS:
            return None
        with self._lock:
            lock = self._locks.setdefault(task, Lock())
        with lock:
            if task not in self._made:
                self._made[task] = self.backend.create(self.spec_for(tool))
            return self._made[task]

    def spec_for(self, tool: str) -> EnvironmentSpec:
        """What is made when this tool is first: the same for all."""
        return self.settings()
