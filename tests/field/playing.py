"""Plays a target: all of its scenarios or a drawn sample once, and what shows a finding twice more.

Each time is `harness run` in a network of loopback alone, where the machine permits one. Its
lines and its histories stay below `.field/runs/NAME/TIME`; a sample may take several commands.
"""

from __future__ import annotations

import math
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness.cli.agent_runs import Planned, for_profile
from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import InputError
from harness.core.values.profile import Profile
from harness.files.scenario_file import load_scenarios
from harness.runner.needs import absent, needs_virtual_time
from tests.field.bounded import Bounds, Command, Run, play_within
from tests.field.environments import (
    ENVIRONMENTS,
    ROOT,
    path_of,
    profile_of,
    python_of,
    sessions_of,
    targets,
    version_of,
)  # fmt: skip
from tests.field.loopback import NOT_PERMITTED
from tests.field.results import Line, Results, causes, results, runs_of

TIMES = 3
TIMEOUT_S = 3600
RUN_S = 240
"""A run of a sample that takes longer is left out, and named in the report."""
SAMPLE_REAL_S = 45
"""`--real-s` of a sample in real time: what waits longer is not drawn."""

CLOSED, OPEN = "loopback only", "not closed: this machine permits no namespace"


def play(name: str, seed: int, sample: int | None = None, minutes: float = 60) -> Results:
    """Play a target; a sample takes at most this number of `minutes`, each of the three times.

    Raises OSError or SubprocessError when it cannot be.
    """
    target = targets()[name]
    drawn = target.sample if sample is None else sample
    more = ("--real-s", str(SAMPLE_REAL_S)) if drawn and is_in_real_time(name) else ()
    wire = ("--wire", target.connected) if target.connected else ()
    options = [*sessions_of(name), *wire, *more]
    asked = sorted_out(name)
    runs = [(path, "*") for path in target.plays]
    runs = in_order(draw(asked.playable, seed, drawn), name) if drawn else runs
    network = network_of()
    shutil.rmtree(folder_of(name), ignore_errors=True)
    starts = [
        partial(start, _player(name, number), options, network) for number in range(1, TIMES + 1)
    ]
    bounds = Bounds(RUN_S, minutes * 60) if drawn else Bounds(math.inf, TIMEOUT_S)
    first = play_within(bounds, runs, starts[0])
    again = to_repeat(first.lines)
    later = [play_within(bounds, again, start).lines for start in starts[1:]] if again else []
    found = results(name, version_of(name), network, seed, [first.lines, *later])
    head = msgspec.structs.replace(found.head, drawn=drawn, left_out=first.left_out)
    if not target.connected:
        head = msgspec.structs.replace(
            head, lacks=dict(sorted(asked.lacks.items())),
            catalogue=asked.count, applicable=sum(map(len, asked.playable.values())),
        )  # fmt: skip
    return msgspec.structs.replace(found, head=head)


def folder_of(name: str) -> Path:
    """Where the lines and the histories of a target stay."""
    return ENVIRONMENTS / "runs" / name


def is_in_real_time(name: str) -> bool:
    """Whether the target is a program, for which no clock can be set forward."""
    target = targets()[name]
    if target.connected:
        return target.world == "supervise"
    return bool(target.program) or profile_of(name).target.startswith("process:")


def to_repeat(lines: Sequence[Line]) -> list[Run]:
    """The runs that are played again, with their files: for each code the first that shows it."""
    shown: set[str] = set()
    found = []
    for run in runs_of(lines):
        codes = {*causes(run)}
        if codes - shown:
            found.append((run["file"], run["name"]))
            shown |= codes
    return found


def draw(playable: Mapping[str, Sequence[str]], seed: int, count: int) -> list[Run]:
    """`count` files that the target can play, drawn with the seed, and a run of each."""
    drawing = random.Random(seed)
    files = drawing.sample(sorted(playable), min(count, len(playable)))
    return [(file, drawing.choice(playable[file])) for file in sorted(files)]


def in_order(runs: Sequence[Run], name: str) -> list[Run]:
    """The runs in the order in which the command plays them: those of another API come last."""
    files = {run: file for file, run in runs}
    planned = [(file, one) for file in files.values() for one in load_scenarios(ROOT / file)]
    names = [scenario.run_name for scenario in _spoken(planned, name)]
    return [(files[run], run) for run in names if run in files]


class Asked(NamedTuple):
    """The runs that a target can play, by file; how many of the others lack what; how many runs
    there are on its API."""

    playable: dict[str, list[str]]
    lacks: Counter[str]
    count: int


def sorted_out(name: str) -> Asked:
    """The runs that the target can play, as far as a profile says it.

    What a connected agent keeps its adapter alone knows, in the environment of its framework. So
    each run is asked of it, and the command says which are not applicable.
    """
    profile = None if targets()[name].connected else profile_of(name)
    waits = is_in_real_time(name)
    found: dict[str, list[str]] = {}
    lacks: Counter[str] = Counter()
    count = 0
    for path in _paths(name):
        for each in _spoken([(path, scenario) for scenario in load_scenarios(ROOT / path)], name):
            missing = _missing(each, profile, waits) if profile else []
            lacks.update(missing)
            count += 1
            if not missing:
                found.setdefault(path, []).append(each.run_name)
    return Asked(found, lacks, count)


def _missing(scenario: Scenario, profile: Profile, waits: bool) -> list[str]:
    """What a target of this profile lacks for a run; `waits`: it plays in real time."""
    limits = msgspec.structs.replace(scenario.limits, real_s=SAMPLE_REAL_S)
    one = msgspec.structs.replace(scenario, profile=profile, limits=limits)
    virtual = ["virtual time"] if waits and needs_virtual_time(one) else []
    return [*(lack.missing for lack in absent(one)), *virtual]


def _spoken(planned: Planned, name: str) -> list[Scenario]:
    """The runs that the command plays: a program by its name gets those of other APIs too."""
    if wire := targets()[name].connected:
        return [scenario for _, scenario in planned if scenario.wire == wire]
    profile = profile_of(name)
    if not targets()[name].program:
        return [scenario for _, scenario in planned if scenario.wire in profile.wires]
    try:
        return [scenario for _, scenario in for_profile(planned, (), profile)]
    except InputError:  # nothing of this file can be said on its API
        return []


def _paths(name: str) -> Iterator[str]:
    for path in (ROOT / each for each in targets()[name].plays):
        for file in sorted(path.rglob("*.yaml")) if path.is_dir() else (path,):
            yield str(file.relative_to(ROOT))


class Player(NamedTuple):
    """What plays runs: the folder for what it keeps, its Python, and its PATH."""

    place: Path
    python: Path
    path: str


def _player(name: str, number: int) -> Player:
    return Player(folder_of(name) / str(number), python_of(name), path_of(name))


def start(player: Player, options: Sequence[str], network: str, runs: Sequence[Run]) -> Command:
    """Start the command that plays runs of files."""
    folder = player.place / str(len([*player.place.glob("*")]))
    out, lines = folder / "histories", folder / "lines.jsonl"
    out.mkdir(parents=True)
    python = str(player.python)
    command = [python, "-W", "ignore", "-m", "tests.field.loopback"] if network == CLOSED else []
    command += [python, "-W", "ignore", "-m", "harness", "run", "--json", *options]
    command += ["--out", str(out), *dict.fromkeys(file for file, _ in runs)]
    command += [word for _, run in runs for word in ("--only", run)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": player.path}
    with (folder / "log").open("w") as log, lines.open("wb") as kept:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=kept, stderr=log)
    return Command(process, lines, out)


def network_of() -> str:
    """The network that this machine permits: one of loopback alone, where it can be had."""
    probe = [sys.executable, "-m", "tests.field.loopback", sys.executable, "-c", ""]
    may_close = subprocess.run(probe, cwd=ROOT, check=False).returncode != NOT_PERMITTED
    return CLOSED if may_close else OPEN
