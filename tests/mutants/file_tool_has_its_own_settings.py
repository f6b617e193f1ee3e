"""The file tool and the code tool say themselves what the container is, and leave keys out."""

from __future__ import annotations

import msgspec

from harness.agent import build
from harness.agent.composition import standard_environment
from harness.agent.tool_environment import Environments, EnvironmentSpec
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="environment",
    statement="The file or code tool is first, and env and extra args are gone (seeds 125, 126)",
    scenario="environment-parity/file-terminal-code",
    killed_by="expect.inputs",
)

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


def agent(brief: Brief) -> None:
    """The reference agent whose container depends on the order of its tools."""
    standard = standard_environment(brief)
    build(brief, environment=OwnDict(standard.backend, standard.settings)).run()
