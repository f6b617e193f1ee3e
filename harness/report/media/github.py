"""Causes as annotations of GitHub Actions: at most ten of a kind, because GitHub shows no more.

A crash is shown at the line of the agent, any other cause at its scenario. A file is named by its
path below the checked-out repository.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from harness.core.values.errors import InputError
from harness.core.values.visible_text import visible_line
from harness.files.regular_file import text_of
from harness.redaction.encoder import Encoded, shown
from harness.report.command_summary import cause_text, cause_title
from harness.verdicts.command_events import CommandStarted
from harness.verdicts.event_lines import counted
from harness.verdicts.result import Result
from harness.verdicts.tallies import CauseGroup, CauseTally

KIND_MAX = 10
"""The most annotations of one kind that GitHub shows for a step."""

Kind = Literal["error", "warning", "notice"]


def github(results: Sequence[Result], command: CommandStarted) -> Iterator[str]:
    """Causes as annotations of GitHub Actions, at lines of the agent or of a scenario."""
    return map(Encoded, annotation_lines(results, Path.cwd(), command.noun))


def annotation_lines(runs: Sequence[Result], root: Path, noun: str = "run") -> Iterator[str]:
    """Yield a line for each cause; `root` is the folder of the repository.

    A cause that fails is an error, a doubt is a warning, any other cause is a notice.
    """
    by_name = {run.name: run for run in runs}
    groups = CauseTally.of(runs).groups()
    failing = [_annotation("error", g, by_name, root, noun) for g in groups if g.fails]
    below = [_annotation("notice", g, by_name, root, noun) for g in groups if not g.fails]
    for kind, lines in (("error", failing), ("warning", list(_doubts(runs))), ("notice", below)):
        yield from _at_most(kind, lines)


def _at_most(kind: str, lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines; the last one that GitHub shows counts the rest."""
    if len(lines) <= KIND_MAX:
        yield from lines
        return
    yield from lines[: KIND_MAX - 1]
    left = len(lines) - KIND_MAX + 1
    yield command(kind, f"{left} more causes: see the summary of the job", title="harness")


def _annotation(
    kind: Kind, group: CauseGroup, runs: Mapping[str, Result], root: Path, noun: str
) -> str:
    run = runs[group.example]
    crash = group.finding.place
    place = _below(root, *((crash.file, crash.line) if crash else _place(run)))
    text = f"{cause_text(group)}\n{run.repeat}" if run.repeat else cause_text(group)
    return command(kind, text, title=f"{cause_title(group)}, {counted(group.runs, noun)}", **place)


def _doubts(runs: Sequence[Result]) -> Iterator[str]:
    for run in runs:
        if run.word == "unknown":
            yield command("warning", "; ".join(run.verdict.doubts), title=f"unknown: {run.name}")


def _place(run: Result) -> tuple[str, int]:
    """Return the file of the scenario, and the line at which its variant begins."""
    variant = run.name.removeprefix(run.scenario).partition("@")[0].partition("+")[0].strip("/")
    is_scenario = run.file.endswith((".yaml", ".yml"))
    try:
        lines = text_of(Path(run.file)).splitlines() if variant and is_scenario else []
    except InputError:
        return run.file, 1
    # A variant is a key of a mapping, or an entry of a list with a `name`.
    begins = re.compile(rf"\s*(-\s*)?(name:\s*)?['\"]?{re.escape(variant)}['\"]?\s*(:|$)")
    return run.file, next((n for n, line in enumerate(lines, 1) if begins.match(line)), 1)


def _below(root: Path, file: str, line: int) -> dict[str, str]:
    """Return the file's path below the repository; nothing for a file outside it."""
    path = os.path.abspath(file)
    relative = os.path.relpath(path, root)
    is_there = bool(file) and os.path.isfile(path) and not relative.startswith("..")
    return {"file": relative, "line": str(line)} if is_there else {}


def command(kind: str, message: str, **properties: str) -> str:
    """Return a workflow command, with properties and message escaped."""
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    lines = "%0A".join(_data(visible_line(line)) for line in shown(message).split("\n"))
    return f"::{kind} {said}::{lines}" if said else f"::{kind}::{lines}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(visible_line(shown(text))).replace(":", "%3A").replace(",", "%2C")
