"""The two worlds: which one a run passes through, and in which process.

A program is always started. A Python target runs in this process, unless something may kill it:
then it runs in forked children, of which each goes on where the one before was ended.
"""

from __future__ import annotations

from pathlib import Path

from harness import faults
from harness.core.history.history import History
from harness.core.scenario.scenario import Scenario
from harness.core.transition.arming import seam_of
from harness.core.transition.ports import Script
from harness.runner import prepare
from harness.runner.at_hand import attempt
from harness.runner.restarts import Restarts
from harness.runner.session import OwnStore, lay_seed, seed_messages
from harness.runner.supervise import supervise
from harness.stores.open import open_passing
from harness.targets import TargetSpec


def kills(scenario: Scenario) -> bool:
    """Whether a fault of the scenario may end the target."""
    return any(faults.by_kind(spec.kind).kills for spec in scenario.faults)


def bends_the_store(scenario: Scenario) -> bool:
    """Whether a fault of the scenario is armed on the store."""
    armed = (spec.on or faults.by_kind(spec.kind).on for spec in scenario.faults)
    return any(seam_of(on) == "store" for on in armed)


def pass_through(
    scenario: Scenario,
    target: TargetSpec,
    world: str,
    folder: Path,
    *,
    script: Script | None,
    store: str,
    model_url: str = "",
) -> History:
    """The history of a run in a world; the folder is the agent's session folder.

    In supervise, `model_url` is where the model is, when it is not behind our door.
    """
    lay_seed(folder, seed_messages(scenario))
    if target.kind != "python":
        transition = prepare.transition_for(scenario, script)
        return supervise(transition, target, folder, store, model_url)
    if kills(scenario):
        restarts = Restarts(scenario, target, world, folder, script=script, store=store)
        try:
            return restarts.run()
        finally:
            restarts.drop()
    return _at_hand(scenario, target, world, folder, script, store, model_url)


def _at_hand(
    scenario: Scenario,
    target: TargetSpec,
    world: str,
    folder: Path,
    script: Script | None,
    store: str,
    model_url: str,
) -> History:
    transition = prepare.transition_for(scenario, script)
    seed = seed_messages(scenario)
    own = OwnStore(transition, folder, seed, target.options, opener=open_passing)
    try:
        attempt(transition, target, world, folder, own, store=store, model_url=model_url)
    finally:
        own.close()
    return transition.history
