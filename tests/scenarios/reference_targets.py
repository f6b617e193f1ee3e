"""Which form of the reference agent plays a scenario. The demo needs it too, and has no pytest."""

from __future__ import annotations

from harness.core.scenario.scenario import Scenario, Turn
from harness.core.scenario.script import called
from harness.runner.needs import faults_seam
from harness.targets import TargetSpec, resolve


def reference_for(scenario: Scenario) -> TargetSpec:
    """The reference agent, with the tool that starts sub-agents where the script calls it.

    They work in the background where a call says so. Where a fault strikes at a file, the agent
    opens one itself.
    """
    turns = scenario.script if isinstance(scenario.script, tuple) else ()
    spawns = any("task" in called(turn) for turn in turns) and "task" not in scenario.tools
    if faults_seam(scenario, "file"):
        return resolve("reference?own_store=true&store=jsonl")
    if spawns and any(map(_is_background, turns)):
        return resolve(f"reference?background={scenario.profile.children or 'queue'}")
    return resolve("reference?spawn=true" if spawns else "reference")


def _is_background(turn: Turn) -> bool:
    """Whether a turn starts a child in the background."""
    inputs = [turn.input, *(block.get("input") for block in turn.blocks)]
    return any(isinstance(given, dict) and given.get("background") for given in inputs)
