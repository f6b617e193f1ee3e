"""A dry run: lists the runs of a command, and the calls that their faults would hit.

The list needs no run. The calls that are hit depend on the agent. So `--faults` or `--verbose`
rehearses each run with faults, in virtual time with the same seed. The reference agent replaces a
program or a server, which is not started.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout

from harness.core.history.events import Answered
from harness.core.scenario.scenario import Scenario

STAND_IN = "reference"


def rehearse(
    planned: list[tuple[str, Scenario]],
    target: str,
    seed: int | None,
    detail: str,
    *,
    with_hits: bool,
) -> int:
    """Print the planned runs, with the hits of each if requested. Return exit status 0.

    `detail` is that of the runs, or json.

    Raises InputError for a target that cannot be used.
    """
    from harness.cli import terminal

    faulty = sum(bool(scenario.faults) for _, scenario in planned)
    rehearsed = faulty if with_hits else 0
    agent = _agent(target) if rehearsed or target else ""
    with terminal.progress(max(1, rehearsed), "rehearsed") as advance:
        for path, scenario in planned:
            found = hits(scenario, agent, seed) if scenario.faults and with_hits else None
            if detail != "quiet":
                _tell(path, scenario, found, detail)
            if found is not None:
                advance()
    if detail != "json":
        terminal.out(f"{len(planned)} runs, none played{_end(faulty, agent, with_hits)}")
    return 0


def _end(faulty: int, agent: str, with_hits: bool) -> str:
    if not faulty:
        return ""
    if with_hits:
        return f"; hits rehearsed with {agent}"
    return f"; {faulty} have faults: -v rehearses the calls that they hit"


def _tell(path: str, scenario: Scenario, found: list[dict[str, str]] | None, detail: str) -> None:
    """Print one run; `found` is None without a rehearsal."""
    from harness.cli import terminal
    from harness.redaction.encoder import json_line
    from harness.runner.needs import needs_of

    needs = needs_of(scenario)
    if detail == "json":
        row = {"name": scenario.run_name, "title": scenario.title, "file": path, "needs": needs}
        terminal.out(json_line({**row, "hits": [] if not scenario.faults else found}))
        return
    needed = f"  (needs {', '.join(needs)})" if needs else ""
    terminal.out(f"{scenario.run_name}{needed}")
    for hit in found or ():
        terminal.out(f"    {hit['key']}  {hit['fault']}")
    if found == []:
        terminal.out("    no call is hit")


def _agent(target: str) -> str:
    from harness.targets.spec import resolve

    return target if target and resolve(target).kind == "python" else STAND_IN


def hits(scenario: Scenario, target: str, seed: int | None = None) -> list[dict[str, str]]:
    """Return the calls that a run's faults hit, in order, each with `key` and `fault`."""
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
