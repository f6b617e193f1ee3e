"""Plays a target: all of its scenarios or a drawn sample once, and what shows a finding twice more.

Each time is one `harness run` in a network of loopback alone, where the machine permits one. Its
lines and its histories stay below `.field/runs/NAME`.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import yaml

from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import InputError
from harness.files.scenario_file import load_scenarios
from harness.runner import run as play_here
from harness.runner.applicability import needs_virtual_time
from harness.runner.needs import absent
from harness.targets import resolve
from tests.field.environments import (
    ENVIRONMENTS,
    ROOT,
    Target,
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
"""`--real-s` of a sample: what waits longer in real time is not drawn."""

CLOSED, OPEN = "loopback only", "not closed: this machine permits no namespace"


def play(name: str, seed: int, sample: int | None = None) -> Results:
    """Play a target. Raises OSError or SubprocessError when it cannot be."""
    target = targets()[name]
    drawn = target.sample if sample is None else sample
    paths = transposed(name, target) if target.transposed else target.plays
    only = draw(_runs(paths), name, seed, drawn) if drawn else ()
    more = ("--real-s", str(SAMPLE_REAL_S)) if drawn else ()
    network = CLOSED if _may_close() else OPEN
    words = [*paths, *options_of(name), *more]
    times = [_time(name, 1, words, only, network)]
    for number in range(2, TIMES + 1):
        if again := to_repeat(times[0], is_dear=bool(drawn)):
            times.append(_time(name, number, words, again, network))
    found = results(name, version_of(name), network, seed, times)
    return msgspec.structs.replace(found, head=msgspec.structs.replace(found.head, drawn=drawn))


def to_repeat(lines: Sequence[Line], is_dear: bool) -> list[str]:
    """The runs that show findings: all, or of a dear target for each code the first that has it."""
    shown: set[str] = set()
    names = []
    for run in runs_of(lines):
        codes = {*causes(run)}
        if run["verdict"] in ("fail", "unknown") and not (is_dear and codes <= shown):
            names.append(run["name"])
            shown |= codes
    return names


def draw(runs: Sequence[Scenario], name: str, seed: int, count: int) -> list[str]:
    """So many scenarios that the target can play, drawn with the seed, and one run of each."""
    profile = profile_of(name)
    choices: dict[str, list[str]] = {}
    for each in runs:
        limits = msgspec.structs.replace(each.limits, real_s=SAMPLE_REAL_S)
        one = msgspec.structs.replace(each, profile=profile, limits=limits)
        if not absent(one) and not needs_virtual_time(one):
            choices.setdefault(one.name, []).append(one.run_name)
    drawing = random.Random(seed)
    drawn = drawing.sample(sorted(choices), min(count, len(choices)))
    return [drawing.choice(choices[each]) for each in sorted(drawn)]


def _runs(paths: Sequence[str]) -> list[Scenario]:
    return [scenario for file in _files(paths) for scenario in load_scenarios(file)]


def _files(paths: Sequence[str]) -> Iterator[Path]:
    for path in (ROOT / each for each in paths):
        yield from sorted(path.rglob("*.yaml")) if path.is_dir() else (path,)


def transposed(name: str, target: Target) -> tuple[str, ...]:
    """The scenarios, without variants, on the API of the target: those that the reference agent
    passes there. What is said in the words of another API has no place there, and is left out."""
    folder = ENVIRONMENTS / "transposed" / name
    folder.mkdir(parents=True, exist_ok=True)
    reference = resolve("reference")
    for source in _files(target.plays):
        copy = folder / source.name
        written = yaml.safe_load(source.read_text(encoding="utf-8"))
        if written.get("wire") or "script" not in written or copy.exists():
            continue
        written.pop("variants", None)
        copy.write_text(yaml.safe_dump({**written, "wire": [target.transposed]}, sort_keys=False))
        try:
            passes = all(
                play_here(s, reference).verdict.verdict == "pass" for s in load_scenarios(copy)
            )
        except InputError:
            passes = False
        if not passes:
            copy.unlink()
    return (str(folder.relative_to(ROOT)),)


def _time(
    name: str, number: int, words: Sequence[str], only: Sequence[str], network: str
) -> list[Line]:
    """Play once; the lines of the command."""
    folder = ENVIRONMENTS / "runs" / name
    folder.mkdir(parents=True, exist_ok=True)
    python = str(python_of(name))
    command = [python, "-W", "ignore", "-m", "tests.field.loopback"] if network == CLOSED else []
    command += [python, "-W", "ignore", "-m", "harness", "run", *words, "--json"]
    command += ["--out", str(folder / str(number))]
    command += [word for run in only for word in ("--only", run)]
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
