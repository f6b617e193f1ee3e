"""Overlay files: faults for scenarios and recordings that are not to be edited.

An overlay is a YAML file with the one key `faults`, as in a scenario. Its faults come after the
scenario's own, in order. What it names is looked up before anything runs, for every scenario that
it is laid over.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from harness.core.scenario.scenario import FaultSpec, Scenario
from harness.core.values.errors import InputError, nearest
from harness.files.names import mistakes_in
from harness.files.scenario_file import read_source


def load_overlay(path: Path) -> tuple[FaultSpec, ...]:
    """The faults of an overlay file.

    Raises InputError `FILE:LINE: …` for whatever is wrong with it, wrong names apart.
    """
    source = read_source(path)
    root: Any = source.root
    if not isinstance(root, dict) or not isinstance(root.get("faults"), list):
        raise source.fail("an overlay is a mapping with a list of `faults`", root)
    for key in root:
        if key != "faults":
            raise source.fail(f"key `{key}`: unknown; {nearest(key, ['faults'])}", root, key)
    long = {"faults": source.long_faults(root)}
    source.lines.put(long, source.lines.of(root))
    return tuple(
        source.convert(fault, FaultSpec, long, ["faults", place])
        for place, fault in enumerate(long["faults"])
    )


def laid_over(scenario: Scenario, overlay: tuple[FaultSpec, ...], place: str) -> Scenario:
    """The scenario with the overlay's faults behind its own, marked as one that has them.

    Its own faults are not owed any more: an overlay's may strike in their place.

    Raises InputError for a fault that there is not, or that this scenario has nothing for; `place`
    is the overlay's file.
    """
    own = tuple(msgspec.structs.replace(fault, must_fire=False) for fault in scenario.faults)
    laid = msgspec.structs.replace(scenario, faults=(*own, *overlay), overlaid=True)
    for mistake in mistakes_in(laid):
        raise InputError(f"{mistake.what} (over {scenario.run_name})", place)
    return laid
