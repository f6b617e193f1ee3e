"""Does the work of `fork`: plays the run, divides its scenario, plays that one, and compares them.

The other way is written before it is played, so that it can be kept and changed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import msgspec

from harness.cli import terminal
from harness.cli.shrink_source import PlayRequest, checked_target, renamed, whole_scenarios_of
from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.diagnosis.forked_scenario import answer_at, forked
from harness.diagnosis.redraws import open_ended
from harness.files.regular_file import write_atomically
from harness.files.scenario_text import scenario_yaml
from harness.files.yaml_text import parse
from harness.redaction.encoder import encoded, json_line
from harness.report.run_report import told, wrapped
from harness.runner import Run, run
from harness.verdicts.result import Invocation, run_command
from harness.verdicts.run_diff import Played, RunDiff, run_diff


class ForkRequest(PlayRequest, frozen=True, kw_only=True):
    """The input and options of the command, and its folder; `again` are those that play a run."""

    key: str
    settings: tuple[str, ...]
    again: Invocation
    out: Path
    start: Path


class Forked(msgspec.Struct, frozen=True):
    """A run as it was and with the other answer, and their differences. `file` is that of the other
    way as the user reads it, and `command` plays it."""

    before: Run
    after: Run
    diff: RunDiff
    file: Path
    command: str


def tell_fork(asked: ForkRequest, as_json: bool) -> int:
    """Play both ways, and tell what came of the other one."""
    made = _forked(asked)
    terminal.out(json_line(_row(made)) if as_json else "\n".join(_text(made)))
    return 0


def _forked(asked: ForkRequest) -> Forked:
    target, world, store = asked.again.target, asked.world, asked.again.store
    scenario, *_ = whole_scenarios_of(asked.source, asked.only, asked.seed, asked.profile, target)
    spec, given = checked_target(target, "", "--at"), _fields(asked.settings)
    with redirect_stdout(sys.stderr):
        before = run(scenario, spec, world=world, store=store, capture="fd")
        answer = answer_at(before.history, asked.key)
        way = open_ended(forked(scenario, before.history, answer, given))
        title = f"{way.title or way.name}, with another answer to {answer.key}"
        other = renamed(way, f"{way.name}-{answer.key}", title)
        file = asked.out / f"{other.name}.yaml"
        head = f"harness fork of {scenario.run_name} at {answer.key}"
        write_atomically(asked.start / file, encoded(scenario_yaml(other, [head])))
        # Under the name of the first run a finding of both is one finding.
        after = run(way, spec, world=world, store=store, capture="fd")
    sides = (Played(played.history, played.verdict, "") for played in (before, after))
    again = msgspec.structs.replace(asked.again, path=str(file))
    return Forked(
        before=before,
        after=after,
        diff=run_diff(after.scenario.run_name, *sides),
        file=file,
        command=run_command(again, other.run_name, other.seed),
    )


def _fields(settings: Sequence[str]) -> dict[str, Json]:
    """The fields of the answer. Raises InputError for one without a value."""
    given: dict[str, Json] = {}
    for setting in settings:
        name, is_set, value = setting.partition("=")
        if not is_set or not name:
            raise InputError(f"{setting!r} is not NAME=VALUE, as in say='It is done.'", "--set")
        given[name] = parse(value)[0] if value else ""
    return given


def _text(made: Forked) -> Iterator[str]:
    width, paint = terminal.width(), terminal.paint()
    yield f"A is {made.before.scenario.run_name} as it was, B with the other answer"
    for note in made.diff.notes:
        yield from wrapped(note, width, "  ")
    for doubt in made.after.verdict.doubts:
        yield from wrapped(f"doubt of B: {doubt}", width, "  ")
    for words, findings in (("only in B", made.diff.new), ("gone in B", made.diff.gone)):
        roots = [finding for finding in findings if not finding.follows]
        yield from [f"{words}:"] if roots else []
        for finding in roots:
            yield from told(finding, made.after.verdict, width, paint)
    yield f"  scenario: {made.file}"
    yield f"  repeat:   {made.command}"


def _row(made: Forked) -> dict[str, Any]:
    return {
        "name": made.before.scenario.run_name,
        "file": str(made.file),
        "before": made.before.verdict.verdict,
        "after": made.after.verdict.verdict,
        "new": [finding.code for finding in made.diff.new],
        "gone": [finding.code for finding in made.diff.gone],
        "differs": made.diff.change.what if made.diff.change else "",
        "repeat": made.command,
    }
