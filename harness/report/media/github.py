"""Causes as annotations of GitHub Actions: at most ten of a kind, because GitHub shows no more.

A crash is shown at the line of the agent, any other cause at its scenario. A file is named by its
path below the checked-out repository. It is looked for from where the user started the command:
`doctor` plays in a copy of that folder, and a target may leave it.
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
    """Causes as annotations of GitHub Actions, at lines of the agent or of a scenario.

    A cause that fails is an error, a doubt is a warning, any other cause is a notice.
    """
    by_name = {run.name: run for run in results}
    groups = CauseTally.of(results).groups()
    failing = [_annotation("error", g, by_name, command) for g in groups if g.fails]
    below = [_annotation("notice", g, by_name, command) for g in groups if not g.fails]
    doubts = list(_doubts(results))
    for kind, lines in (("error", failing), ("warning", doubts), ("notice", below)):
        yield from map(Encoded, _at_most(kind, lines))


def _at_most(kind: str, lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines; the last one that GitHub shows counts the rest."""
    if len(lines) <= KIND_MAX:
        yield from lines
        return
    yield from lines[: KIND_MAX - 1]
    left = len(lines) - KIND_MAX + 1
    yield workflow_command(kind, f"{left} more causes: see the summary of the job", title="harness")


def _annotation(
    kind: Kind, group: CauseGroup, runs: Mapping[str, Result], command: CommandStarted
) -> str:
    run = runs[group.example]
    crash = group.finding.place
    file, line = (crash.file, crash.line) if crash else _place(run, command.folder)
    place = _below(command, file, line)
    text = f"{cause_text(group)}\n{run.repeat}" if run.repeat else cause_text(group)
    title = f"{cause_title(group)}, {counted(group.runs, command.noun)}"
    return workflow_command(kind, text, title=title, **place)


def _doubts(runs: Sequence[Result]) -> Iterator[str]:
    for run in runs:
        if run.word == "unknown":
            doubts = "; ".join(run.verdict.doubts)
            yield workflow_command("warning", doubts, title=f"unknown: {run.name}")


def _place(run: Result, folder: Path) -> tuple[str, int]:
    """Return the file of the scenario, and the line at which its variant begins."""
    variant = run.name.removeprefix(run.scenario).partition("@")[0].partition("+")[0].strip("/")
    is_scenario = run.file.endswith((".yaml", ".yml"))
    try:
        lines = text_of(folder / run.file).splitlines() if variant and is_scenario else []
    except InputError:
        return run.file, 1
    # A variant is a key of a mapping, or an entry of a list with a `name`.
    begins = re.compile(rf"\s*(-\s*)?(name:\s*)?['\"]?{re.escape(variant)}['\"]?\s*(:|$)")
    return run.file, next((n for n, line in enumerate(lines, 1) if begins.match(line)), 1)


def _below(command: CommandStarted, file: str, line: int) -> dict[str, str]:
    """Return the file's path below the repository; nothing for a file outside it."""
    path = os.path.abspath(command.folder / file)
    relative = os.path.relpath(path, command.repository)
    is_there = bool(file) and os.path.isfile(path) and not relative.startswith("..")
    return {"file": relative, "line": str(line)} if is_there else {}


def workflow_command(kind: str, message: str, **properties: str) -> str:
    """Return a workflow command, with properties and message escaped."""
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    lines = "%0A".join(_data(visible_line(line)) for line in shown(message).split("\n"))
    return f"::{kind} {said}::{lines}" if said else f"::{kind}::{lines}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(visible_line(shown(text))).replace(":", "%3A").replace(",", "%2C")
