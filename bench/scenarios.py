"""What a user waits for: the headline scenarios, the catalogue, `import harness`, `--help`.

Each is measured in fresh interpreters, so that nothing is warm which would be cold for a user. The
SDK is imported before the clock starts: its one to two seconds are not ours. Imports are the
difference of two medians, ours and bare Python's, taken in turn.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure

ROOT = Path(__file__).parents[1]
RUN_MOST_MS, CATALOGUE_MOST_S = 50.0, 60.0
IMPORT_MOST_MS, HELP_MOST_MS = 60.0, 100.0
INCIDENT = "loops/empty-inputs.yaml"
HEADLINE = (
    INCIDENT,
    "loops/identical-failures.yaml",
    "context/prompt-too-long.yaml",
    "gateway/replay-spiral.yaml",
)

_TIMED = """
import sys, time
import anthropic
anthropic.Anthropic(api_key="x").messages
began = time.perf_counter()
from bench.scenarios import play
runs = play(*sys.argv[1:])
print(time.perf_counter() - began, runs)
"""
_HELP = "import sys; from harness.cli import main; sys.exit(main())"


def play(*paths: str) -> int:
    """Run the reference agent on every variant of the scenarios in these files; return how many."""
    from harness.agent import agent
    from harness.files import find_scenarios, load_scenarios
    from harness.runner import run

    files = find_scenarios([ROOT / "scenarios" / path for path in paths])
    scenarios = [scenario for file in files for scenario in load_scenarios(file)]
    for scenario in scenarios:
        result = run(scenario, agent)
        assert result.verdict.verdict == "pass", (result.name, result.verdict)
    return len(scenarios)


def python(*arguments: str) -> str:
    """What a fresh interpreter prints."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def run_figure(name: str, rounds: int, *paths: str) -> Figure:
    """What one run of the scenarios in these files takes, with all that a first run imports. The
    whole grows with each variant and wire that a scenario is given, so it says little."""
    spent = [python("-c", _TIMED, *paths).split() for _ in range(rounds)]
    took_s, runs = statistics.median(float(took) for took, _ in spent), int(spent[0][1])
    return Figure(name, 1000 * took_s / runs, RUN_MOST_MS, " ms", f"{runs} in {took_s:.1f} s")


def catalogue_s(*chosen: str) -> float:
    """How long the command line takes for the chosen scenarios, all by default, in two
    processes."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as out:
        python(*("-m", "harness", "run", *chosen, "--target", "reference", "-j", "2", "--out", out))
    return time.perf_counter() - began


def beyond_bare_ms(rounds: int, *arguments: str) -> float:
    """How many milliseconds an interpreter takes beyond one that does nothing."""
    bare, ours = [], []
    for _ in range(rounds):
        for spent, command in ((bare, ("-c", "pass")), (ours, arguments)):
            began = time.perf_counter()
            python(*command)
            spent.append(time.perf_counter() - began)
    return 1000 * (statistics.median(ours) - statistics.median(bare))


def figures(rounds: int, *chosen: str) -> Iterator[Figure]:
    """The figures, each the median of a given number of interpreters; imports take four times as
    many. The catalogue is whole without `chosen` scenarios."""
    yield run_figure("a run of the four headline scenarios", rounds, *HEADLINE)
    yield run_figure("a run of the 51-minute incident", rounds, INCIDENT)
    yield Figure("the whole catalogue, -j 2", catalogue_s(*chosen), CATALOGUE_MOST_S, " s")
    imported = beyond_bare_ms(4 * rounds, "-c", "import harness")
    yield Figure("import harness, beyond bare Python", imported, IMPORT_MOST_MS, " ms")
    helped = beyond_bare_ms(4 * rounds, "-c", _HELP, "--help")
    yield Figure("harness --help, beyond bare Python", helped, HELP_MOST_MS, " ms")


def main() -> int:
    """Print every figure; 1 when one is over its bound."""
    over = 0
    for figure in figures(5):
        print(figure, flush=True)
        over += figure.is_over
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())
