"""The map from configuration to variables is written by hand, and a new key is not in it."""

from __future__ import annotations

from harness.agent import build
from harness.agent.tool_environment import EnvironmentSpec, environments_of, to_variables
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="environment",
    statement="docker_extra_args never reaches the process that reads it (seed 128, #28863)",
    scenario="environment-parity",
    killed_by="expect.inputs",
)

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


def agent(brief: Brief) -> None:
    """The reference agent whose bridge has its own list."""
    build(brief, environment=environments_of(brief.tools, bridge=by_hand)).run()
