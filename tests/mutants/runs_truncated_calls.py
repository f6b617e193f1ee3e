"""Calls of a reply that was cut at its length are run with what arrived of their input."""

from __future__ import annotations

from harness.agent import build
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="policy",
    statement="A call cut off at max_tokens is run with a part of its input (incidents 114-116)",
    scenario="empty-inputs/truncated-at-max-tokens",
    killed_by="args_complete",
)


def agent(brief: Brief) -> None:
    """The reference agent that takes a cut reply for a whole one."""
    build(brief, policy=Policy(runs_calls_on=frozenset({"tool_use", "max_tokens"}))).run()
