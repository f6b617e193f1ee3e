"""The one run that a verb for a single run is about, out of all that a file holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.cli.planned import narrow, on_wires, plan
from harness.core.scenario.scenario import Scenario


def chosen(path: Path, patterns: Sequence[str], wires: Sequence[str]) -> tuple[Scenario, int]:
    """The first run of a file that is meant, and how many others are.

    Raises InputError for a file that cannot be used, and when no run is meant.
    """
    planned = on_wires(narrow(plan([path]), patterns), wires)
    return planned[0][1], len(planned) - 1
