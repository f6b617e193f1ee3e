"""Plays a target: all of its scenarios or a drawn sample once, and what shows a finding twice more.

Each time is one `harness run` in a network of loopback alone, where the machine permits one. Its
lines and its histories stay below `.field/runs/NAME`.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from harness.cli.agent_runs import Planned, for_profile
from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import InputError
from harness.files.scenario_file import load_scenarios
from harness.runner.applicability import needs_virtual_time
from harness.runner.needs import absent
from tests.field.environments import (
    ENVIRONMENTS,
    ROOT,
    options_of,
    profile_of,
    python_of,
    targets,
    version_of,
)  # fmt: skip
from tests.field.loopback import NOT_PERMITTED
from tests.field.results import Line, Results, causes, results, runs_of

TIMES = 3
TIMEOUT_S = 3600
SAMPLE_REAL_S = 45
"""`--real-s` of a sample in real time: what waits longer is not drawn."""

CLOSED, OPEN = "loopback only", "not closed: this machine permits no namespace"


def play(name: str, seed: int, sample: int | None = None) -> Results:
    """Play a target. Raises OSError or SubprocessError when it cannot be."""
    target = targets()[name]
    drawn = target.sample if sample is None else sample
    more = ("--real-s", str(SAMPLE_REAL_S)) if drawn and is_in_real_time(name) else ()
    options = [*options_of(name), *more]
    playable, lacks = sorted_out(name)
    runs = draw(playable, seed, drawn) if drawn else [(path, "*") for path in target.plays]
    network = CLOSED if _may_close() else OPEN
    times = [_time(name, 1, runs, options, network)]
    for number in range(2, TIMES + 1):
        if again := to_repeat(times[0]):
            times.append(_time(name, number, again, options, network))
    found = results(name, version_of(name), network, seed, times)
    head = msgspec.structs.replace(found.head, drawn=drawn, lacks=dict(sorted(lacks.items())))
    return msgspec.structs.replace(found, head=head)


def is_in_real_time(name: str) -> bool:
    """Whether the target is a program, for which no clock can be set forward."""
    return bool(targets()[name].program) or profile_of(name).target.startswith("process:")


def to_repeat(lines: Sequence[Line]) -> list[tuple[str, str]]:
    """The runs that are played again, with their files: for each code the first that shows it."""
    shown: set[str] = set()
    found = []
    for run in runs_of(lines):
        codes = {*causes(run)}
        if codes - shown:
            found.append((run["file"], run["name"]))
            shown |= codes
    return found


def draw(playable: Mapping[str, Sequence[str]], seed: int, count: int) -> list[tuple[str, str]]:
    """`count` files that the target can play, drawn with the seed, and a run of each."""
    drawing = random.Random(seed)
    files = drawing.sample(sorted(playable), min(count, len(playable)))
    return [(file, drawing.choice(playable[file])) for file in sorted(files)]


def sorted_out(name: str) -> tuple[dict[str, list[str]], Counter[str]]:
    """The runs that the target can play, by file, and how many of the others lack what."""
    profile, waits = profile_of(name), is_in_real_time(name)
    found: dict[str, list[str]] = {}
    lacks: Counter[str] = Counter()
    for path in (str(file.relative_to(ROOT)) for file in _files(targets()[name].plays)):
        for each in _spoken([(path, scenario) for scenario in load_scenarios(ROOT / path)], name):
            limits = msgspec.structs.replace(each.limits, real_s=SAMPLE_REAL_S)
            one = msgspec.structs.replace(each, profile=profile, limits=limits)
            missing = [lack.missing for lack in absent(one)]
            if waits and needs_virtual_time(one):
                missing.append("virtual time")
            lacks.update(missing)
            if not missing:
                found.setdefault(path, []).append(one.run_name)
    return found, lacks


def _spoken(planned: Planned, name: str) -> list[Scenario]:
    """The runs that the command plays: a program by its name gets those of other APIs too."""
    profile = profile_of(name)
    if not targets()[name].program:
        return [scenario for _, scenario in planned if scenario.wire in profile.wires]
    try:
        return [scenario for _, scenario in for_profile(planned, (), profile)]
    except InputError:  # nothing of this file can be said on its API
        return []


def _files(paths: Sequence[str]) -> Iterator[Path]:
    for path in (ROOT / each for each in paths):
        yield from sorted(path.rglob("*.yaml")) if path.is_dir() else (path,)


def _time(
    name: str, number: int, runs: Sequence[tuple[str, str]], options: Sequence[str], network: str
) -> list[Line]:
    """Play runs of files once; the lines of the command."""
    folder = ENVIRONMENTS / "runs" / name
    folder.mkdir(parents=True, exist_ok=True)
    python = str(python_of(name))
    command = [python, "-W", "ignore", "-m", "tests.field.loopback"] if network == CLOSED else []
    command += [python, "-W", "ignore", "-m", "harness", "run", "--json", *options]
    command += ["--out", str(folder / str(number)), *dict.fromkeys(file for file, _ in runs)]
    command += [word for _, run in runs for word in ("--only", run)]
    lines, log_path = folder / f"{number}.jsonl", folder / f"{number}.log"
    with log_path.open("w", encoding="utf-8") as log, lines.open("wb") as kept:
        made = subprocess.run(
            command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=kept,
            stderr=log, timeout=TIMEOUT_S,
        )  # fmt: skip
    if made.returncode not in (0, 1):
        raise OSError(f"the command failed with status {made.returncode}: see {log_path}")
    return [msgspec.json.decode(line) for line in lines.read_bytes().splitlines()]


def _may_close() -> bool:
    """Whether this machine permits a network of loopback alone."""
    probe = [sys.executable, "-m", "tests.field.loopback", sys.executable, "-c", ""]
    return subprocess.run(probe, cwd=ROOT, check=False).returncode != NOT_PERMITTED
