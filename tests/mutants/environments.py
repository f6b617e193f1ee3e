"""The environment of tools: wrong agents in which a setting is lost, or two are made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import msgspec

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.composition import standard_environment
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.tool_environment import (
    ENVIRONMENT_TOOLS,
    Environments,
    EnvironmentSpec,
    environments_of,
    to_variables,
)
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolUse, results
from tests.mutants import mutant


def joined(spec: EnvironmentSpec) -> dict[str, str]:
    """The arguments in one text, as a reader that splits nothing gets them."""
    text = " ".join(spec.extra_args)
    return {**to_variables(spec), "TERMINAL_EXTRA_ARGS": json.dumps([text])}


@mutant(
    breaks="environment",
    statement="A list of the configuration is not the same list after the variables (seed 129)",
    scenario="environment-parity",
    killed_by="expect.inputs",
)
def extra_args_become_text(brief: Brief) -> None:
    """A list crosses the variables as the text that Python prints, and comes back as another list.

    The reference agent that joins what it should quote.
    """
    build(brief, environment=environments_of(brief.tools, bridge=joined)).run()


WRITTEN = (
    "TERMINAL_IMAGE",
    "TERMINAL_ENV",
    "TERMINAL_NETWORK",
    "TERMINAL_CAP_DROP",
    "TERMINAL_SECURITY_OPTIONS",
    "TERMINAL_MOUNTS",
    "TERMINAL_CPUS",
    "TERMINAL_MEMORY_MIB",
    "TERMINAL_DISK_MIB",
    "TERMINAL_PIDS",
)


def by_hand(spec: EnvironmentSpec) -> dict[str, str]:
    """The variables that somebody has written down."""
    whole = to_variables(spec)
    return {variable: whole[variable] for variable in WRITTEN}


@mutant(
    breaks="environment",
    statement="docker_extra_args never reaches the process that reads it (seed 128, #28863)",
    scenario="environment-parity",
    killed_by="expect.inputs",
)
def bridge_forgets_extra_args(brief: Brief) -> None:
    """The map from configuration to variables is written by hand, and a new key is not in it.

    The reference agent whose bridge has its own list.
    """
    build(brief, environment=environments_of(brief.tools, bridge=by_hand)).run()


COPIED = ("image", "cpus", "memory_mib", "disk_mib", "mounts")
"""The keys that there were when the dict was copied."""


class OwnDict(Environments):
    """One dict for the terminal, another one for the others."""

    def spec_for(self, tool: str) -> EnvironmentSpec:
        """The whole configuration for the terminal only."""
        spec = super().spec_for(tool)
        return spec if tool == "terminal" else _copied(spec)


def _copied(spec: EnvironmentSpec) -> EnvironmentSpec:
    values = spec.plain()
    return msgspec.convert({key: values[key] for key in COPIED}, type=EnvironmentSpec)


@mutant(
    breaks="environment",
    statement="The file or code tool is first, and env and extra args are gone (seeds 125, 126)",
    scenario="environment-parity/file-terminal-code",
    killed_by="expect.inputs",
)
def file_tool_has_its_own_settings(brief: Brief) -> None:
    """The file tool and the code tool say themselves what the container is, and leave keys out.

    The reference agent whose container depends on the order of its tools.
    """
    standard = standard_environment(brief)
    build(brief, environment=OwnDict(standard.backend, standard.settings)).run()


class Unlocked(Environments):
    """Looks, and makes afterwards. Both racers have looked before either makes."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.looked = Barrier(2)

    def ready(self, task: str, tool: str) -> Any:
        """What the task has, or a new one."""
        if self.backend is None or tool not in ENVIRONMENT_TOOLS:
            return None
        if task not in self._made:
            self.looked.wait()
            self._made[task] = self.backend.create(self.spec_for(tool))
        return self._made[task]


class AtOnce(Loop):
    """Runs the calls of a reply at the same time."""

    def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
        """All calls in threads."""
        with ThreadPoolExecutor(len(calls)) as pool:
            self.transcript.append(results(*pool.map(self.toolbox.run, calls)))
        return None


@mutant(
    breaks="environment",
    statement="Two tools that race on first use make two containers (seed 130)",
    scenario="environment-parity/two-at-once",
    killed_by="expect.calls",
)
def two_containers_at_once(brief: Brief) -> None:
    """Two tools of one reply run at the same time, both see no container, and both make one.

    The reference agent that runs tools at once and does not lock.
    """
    standard = standard_environment(brief)
    environment = Unlocked(standard.backend, standard.settings)
    build(brief, environment=environment, turn=AtOnce).run()
