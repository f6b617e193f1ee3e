"""A list crosses the variables as the text that Python prints, and comes back as another list."""

from __future__ import annotations

import json

from harness.agent import build
from harness.agent.tool_environment import EnvironmentSpec, environments_of, to_variables
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="environment",
    statement="A list of the configuration is not the same list after the variables (seed 129)",
    scenario="environment-parity",
    killed_by="expect.inputs",
)


def joined(spec: EnvironmentSpec) -> dict[str, str]:
    """The arguments in one text, as a reader that splits nothing gets them."""
    text = " ".join(spec.extra_args)
    return {**to_variables(spec), "TERMINAL_EXTRA_ARGS": json.dumps([text])}


def agent(brief: Brief) -> None:
    """The reference agent that joins what it should quote."""
    build(brief, environment=environments_of(brief.tools, bridge=joined)).run()
