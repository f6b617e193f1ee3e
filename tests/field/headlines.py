"""The scenarios that the harness was made for, against every target that we name: one table.

A target plays one run of each, streamed and in one piece where it can. A cell is the verdict, or
what the target lacks for it. A framework keeps its sessions in the run's folder. The rows of
targets that are not played stay as they are, and so do the words around the table.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness.files.scenario_file import load_scenarios
from tests.field.environments import (
    ROOT,
    is_installed,
    path_of,
    profile_of,
    python_of,
    sessions_of,
    targets,
    version_of,
)  # fmt: skip
from tests.field.playing import Player, folder_of, network_of, start
from tests.field.results import Line, causes, runs_of

PAGE = ROOT / "docs" / "field" / "headlines.md"
BEGIN, END = "<!-- headlines -->\n", "<!-- /headlines -->\n"


class Headline(NamedTuple):
    """A file, a run of it, and the check that it is there for."""

    file: str
    run: str
    check: str


HEADLINES = {
    "replay spiral": Headline(
        "scenarios/gateway/replay-spiral.yaml", "replay-spiral", "role_alternation"
    ),
    "identical failures": Headline(
        "scenarios/loops/identical-failures.yaml", "identical-failures", "no_progress_stop"
    ),
    "empty inputs": Headline(
        "scenarios/loops/empty-inputs.yaml", "empty-inputs", "no_progress_stop"
    ),
    "prompt too long": Headline(
        "scenarios/context/prompt-too-long.yaml",
        "prompt-too-long/all-attempts-fail",
        "request_fits",
    ),
    "steering": Headline(
        "scenarios/mid-turn/message-in-mid-turn.yaml", "message-in-mid-turn", "inbound_exactly_once"
    ),
    "approval": Headline("scenarios/approval/allowed-payment.yaml", "allowed-payment", "approval"),
}
"""The columns by their heads."""

OURS = "reference"
TIMEOUT_S = 3600


def main(names: Sequence[str]) -> bool:
    """Play the targets that are installed, or those that are named, and write the table; whether
    all were played."""
    rows: dict[str, str] = {}
    done = True
    for name in names or [*headlined()]:
        try:
            rows[name] = row(name, _play(name))
        except (OSError, subprocess.SubprocessError) as error:
            print(f"{name}: not played: {error}", file=sys.stderr)
            done = False
    _write({**_kept(), **rows})
    return done


def headlined() -> list[str]:
    """The targets of the table: ours, connected frameworks, and programs."""
    named = [
        name for name, target in targets().items()
        if target.connected or target.program or target.language == "TypeScript"
    ]  # fmt: skip
    return [OURS, *named]


def row(name: str, lines: Sequence[Line]) -> str:
    """The row of a target."""
    package, number = (
        ("loop-harness", version("loop-harness")) if name == OURS else version_of(name)
    )
    cells = [cell(headline, lines) for headline in HEADLINES.values()]
    return f"|{'|'.join((name, f'{package} {number}', *cells))}|\n"


def cell(headline: Headline, lines: Sequence[Line]) -> str:
    """The verdict of the runs of a headline, with the codes of all that failed; else the reason.

    A pass is one only where the check of the headline was asked.
    """
    runs = [line for line in runs_of(lines) if _is_of(line["name"], headline.run)]
    codes = dict.fromkeys(code for run in runs for code in causes(run))
    if codes:
        return ", ".join(f"`{code}`" for code in codes)
    lacks = [_lack(run, headline.check) for run in runs]
    if runs and all(lacks):
        return f"n/a: {', '.join(dict.fromkeys(lacks))}"
    verdicts = (run["verdict"] for run, lack in zip(runs, lacks, strict=True) if not lack)
    return ", ".join(dict.fromkeys(verdicts)) or "not played"


def _lack(run: Line, check: str) -> str:
    """Why a run is not applicable, or did not ask the check; "" where it did."""
    reasons = {each["check"]: each["reason"] for each in run["not_applicable"]}
    words = str(reasons.get("run") or reasons.get(check, ""))
    words = words.removeprefix("needs ").removeprefix("not asked: ")
    return words.partition(", which")[0].partition(":")[0]


def _is_of(run: str, scenario: str) -> bool:
    return run.partition("+")[0].partition("@")[0] == scenario


def _play(name: str) -> list[Line]:
    """The lines of a target. Raises OSError where it is not installed, or has no line."""
    if name != OURS and not is_installed(name):
        raise OSError(f"not installed: python -m tests.field --install {name}")
    wire = _wire(name)
    runs = [
        (file, each.run_name)
        for file, scenario, _ in HEADLINES.values()
        for each in load_scenarios(ROOT / file)
        if each.wire == wire and _is_of(each.run_name, scenario)
    ]
    words = ("--target", OURS, "--no-config") if name == OURS else sessions_of(name)
    command = start(_player(name), (*words, "--wire", wire), network_of(), runs)
    command.process.wait(TIMEOUT_S)
    lines = [msgspec.json.decode(line) for line in command.lines.open("rb")]
    if not runs_of(lines):
        raise OSError(f"no run was played: see {command.lines.parent}")
    return lines


def _player(name: str) -> Player:
    place = folder_of(f"headlines-{name}")
    if name == OURS:
        return Player(place, Path(sys.executable), "")
    return Player(place, python_of(name), path_of(name))


def _wire(name: str) -> str:
    if name == OURS:
        return "anthropic"
    return targets()[name].connected or profile_of(name).wires[0]


def _kept() -> dict[str, str]:
    """The rows that are there, by target."""
    _, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    rows = rest.partition(END)[0].splitlines(keepends=True)[2:]
    return {row.split("|")[1].strip(): row for row in rows}


def _write(rows: Mapping[str, str]) -> None:
    before, begin, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{begin}{''.join(_table(rows))}{END}{after}", "utf-8")


def _table(rows: Mapping[str, str]) -> Iterable[str]:
    heads = ("target", "version", *HEADLINES)
    yield f"|{'|'.join(heads)}|\n"
    yield f"|{'---|' * len(heads)}\n"
    yield from (rows[name] for name in headlined() if name in rows)
