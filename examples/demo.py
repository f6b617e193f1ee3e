"""`make demo`: the main job in half a minute, told in a screen.

The reference agent plays every scenario, on the first of its wires, and passes. Wrong agents, each
with one defect of a production system, play the scenario of their incident and fail, each by the
finding made for it. Three of them are told whole; their histories stay in `.harness/demo`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import track

from harness import Finding, Run, Scenario, event_lines, find_scenarios, load_scenarios, run
from tests import mutants
from tests.mutants.__main__ import is_killed
from tests.scenarios.reference_targets import reference_for

ROOT = Path(__file__).parents[1]
OUT = Path(".harness/demo")
PAGE = OUT / "report.html"
WIDTH = 96
COMMAND = ".venv/bin/harness"


def write_page() -> None:
    """The runs that are told as one page."""
    words = ["show", "--html", str(PAGE), str(OUT)]
    subprocess.run([sys.executable, "-m", "harness", *words], check=True, capture_output=True)


class Told(NamedTuple):
    """An incident that is told: what happened in production, and what is wrong with the agent."""

    seen: str
    wrong: str


TOLD = {
    "no_breaker": Told(
        "One failing call 21 times and more, for 51 minutes (AutoGPT #12499)",
        "nothing stops a call that fails again and again",
    ),
    "answers_redelivery": Told(
        "One update runs two turns, because it was delivered again (hermes-agent #68502)",
        "the gateway forgets which messages it has answered",
    ),
    "runs_truncated_calls": Told(
        "A call runs although the answer was cut off in its input (hermes-agent #7680)",
        "the loop runs each call that it is given, whole or not",
    ),
}
"""The wrong agents whose incidents are told, by name."""


class Passed(NamedTuple):
    """One run of the reference agent, in short."""

    name: str
    passed: bool
    model: int
    tool: int


class Caught(NamedTuple):
    """The run of one wrong agent: the finding made for it, "" where it survives, and its proof."""

    name: str
    scenario: str
    code: str
    message: str
    proof: str
    history: str


def play_reference(runs: list[Scenario]) -> list[Passed]:
    """The reference agent on the runs of one scenario file. What it logs of a full disk is its own:
    beside a line of progress it reads as a failure of the demo."""
    return [_passed(run(each, reference_for(each), capture="fd")) for each in runs]


def _passed(done: Run) -> Passed:
    calls = done.history.past.calls
    return Passed(done.name, done.verdict.verdict == "pass", calls["model"], calls["tool"])


def play_mutant(name: str, scenario: Scenario) -> Caught:
    """A wrong agent on the scenario of its incident; the history of one that is told is kept."""
    wrong = mutants.named(name)
    mutant = wrong.mutant
    done = run(scenario, wrong.agent, out=OUT if name in TOLD else None, capture="fd")
    mine = [f for f in done.verdict.findings if is_killed(mutant, [f.code])][:1]
    code, message = (mine[0].code, mine[0].message) if mine else ("", "")
    proof = _proof(done, mine[0]) if mine else ""
    return Caught(name, mutant.scenario, code, message, proof, str(done.folder or ""))


def _proof(done: Run, finding: Finding) -> str:
    """The last of the events that prove a finding, in a line."""
    told = event_lines(done.history, finding.events)
    return f"event {max(told)}: {' '.join(told[max(told)].split())}" if told else ""


def _quiet() -> None:
    """Scenarios send wrong types on purpose; the SDK's models warn of each."""
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)


def works() -> Iterator[Callable[[], Any]]:
    """What is to be played: the reference agent on the first wire of each file, and each mutant."""
    files = [load_scenarios(file) for file in find_scenarios([ROOT / "scenarios"])]
    for runs in files:
        first = (runs[0].wire, runs[0].stream)
        yield partial(play_reference, [s for s in runs if (s.wire, s.stream) == first])
    known = {scenario.run_name: scenario for runs in files for scenario in runs}
    for name, mutant, _ in mutants.every():
        yield partial(play_mutant, name, known[mutant.scenario])


def play_all() -> tuple[list[Passed], list[Caught]]:
    """All runs, by as many processes as there are cores; progress goes to standard error."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    console = Console(stderr=True)
    with ProcessPoolExecutor(cores, get_context("spawn"), _quiet) as pool:
        asked = [pool.submit(work) for work in works()]
        done = as_completed(asked)
        shown = track(done, "playing", len(asked), console=console, transient=True)
        for each in shown if console.is_terminal else done:
            each.result()
    found = [each.result() for each in asked]
    passed = [one for each in found if isinstance(each, list) for one in each]
    return passed, [each for each in found if isinstance(each, Caught)]


def story(passed: list[Passed], caught: list[Caught]) -> Iterator[str]:
    """What was played, three incidents, how many wrong agents were caught, and what comes next."""
    good, model, tool = (sum(each[n] for each in passed) for n in (1, 2, 3))
    yield "1. The reference agent does everything right."
    yield f"   {good} of {len(passed)} runs pass: {model} calls of the model, {tool} of tools."
    yield from (f"   FAILS {each.name}" for each in passed if not each.passed)
    yield ""
    yield "2. Three incidents of production, played by an agent with the same defect."
    for name, told in TOLD.items():
        yield from _incident(told, next(each for each in caught if each.name == name))
    killed = sum(bool(each.code) for each in caught)
    yield f"3. {killed} of {len(caught)} wrong agents are caught, each by the finding made for it."
    yield from (f"   SURVIVES {each.name} on {each.scenario}" for each in caught if not each.code)
    yield ""


def _incident(told: Told, each: Caught) -> Iterator[str]:
    yield f"   {told.seen}"
    yield f"      wrong:    {told.wrong}"
    yield f"      scenario: {each.scenario}"
    yield from _folded("finding", f"{each.code or 'NONE'}: {each.message}")
    yield from _folded("proof", each.proof)
    yield f"      report:   {COMMAND} show {each.history}"
    yield ""


def _folded(label: str, text: str) -> list[str]:
    lead, indent = f"      {label + ':':10}", " " * 16
    return textwrap.wrap(
        text, WIDTH, initial_indent=lead, subsequent_indent=indent, max_lines=2, placeholder=" …"
    )


NEXT = f"""\
The report of the three, for a browser: {PAGE}

Next: an agent as people write it, in about 60 lines, on what happens in loops:
   {COMMAND} run scenarios/loops --target examples.naive_agent:agent
Then your own (docs/targets.md says how to name it): {COMMAND} doctor --target ..."""


def main() -> int:
    """Tell the story; 1 when the reference agent fails or a wrong agent is not caught."""
    passed, caught = play_all()
    write_page()
    print(*story(passed, caught), NEXT, sep="\n")
    return 0 if all(p.passed for p in passed) and all(c.code for c in caught) else 1


if __name__ == "__main__":
    sys.exit(main())
