"""Which form of the reference agent plays a scenario. The demo needs it too, and has no pytest."""

from __future__ import annotations

from harness.core.scenario.scenario import Scenario
from harness.core.scenario.script import called
from harness.runner.needs import faults_seam
from harness.targets import TargetSpec, resolve


def reference_for(scenario: Scenario) -> TargetSpec:
    """The reference agent; with the tool that starts sub-agents where the script calls it, and with
    a file that it opens itself where a fault strikes at that."""
    turns = scenario.script if isinstance(scenario.script, tuple) else ()
    spawns = any("task" in called(turn) for turn in turns) and "task" not in scenario.tools
    if faults_seam(scenario, "file"):
        return resolve("reference?own_store=true&store=jsonl")
    return resolve("reference?spawn=true" if spawns else "reference")
