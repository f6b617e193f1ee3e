"""A dry run: the runs that would be played, and the calls that their faults would hit.

The calls depend on the agent, so a run with faults is rehearsed in virtual time with the same seed.
The reference agent stands in for a program or a server, which is not started.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout

from harness.core.history.events import Answered
from harness.core.scenario.scenario import Scenario

STAND_IN = "reference"


def rehearse(
    planned: list[tuple[str, Scenario]], target: str, seed: int | None, as_json: bool
) -> int:
    """Print what would run, with the hits of each; exit status 0.

    Raises InputError for a target that cannot be used.
    """
    from harness.cli import terminal
    from harness.report.json_lines import line
    from harness.runner.needs import needs_of

    faulty = any(scenario.faults for _, scenario in planned)
    agent = _agent(target) if faulty or target else ""
    for path, scenario in planned:
        found = hits(scenario, agent, seed) if scenario.faults else []
        if as_json:
            row = {"name": scenario.run_name, "title": scenario.title, "file": path}
            needs = {"needs": needs_of(scenario)}
            terminal.out(line({**row, **needs, "hits": found}))
            continue
        needed = ", ".join(needs_of(scenario))
        terminal.out(f"{scenario.run_name}  (needs {needed})" if needed else scenario.run_name)
        for hit in found:
            terminal.out(f"    {hit['key']}  {hit['fault']}")
        if scenario.faults and not found:
            terminal.out("    no call is hit")
    if not as_json:
        said = f"; hits rehearsed with {agent}" if faulty else ""
        terminal.out(f"{len(planned)} runs, none of them played{said}")
    return 0


def _agent(target: str) -> str:
    from harness.targets.spec import resolve

    return target if target and resolve(target).kind == "python" else STAND_IN


def hits(scenario: Scenario, target: str, seed: int | None = None) -> list[dict[str, str]]:
    """The calls that the faults of a run hit, in order: `key` and `fault` of each."""
    from harness.runner import run
    from harness.targets.spec import resolve

    with redirect_stdout(sys.stderr):
        played = run(scenario, resolve(target), seed=seed)
    return [
        {"key": event.key, "fault": fault}
        for event in played.history.events
        if isinstance(event, Answered)
        for fault in event.faults
    ]
