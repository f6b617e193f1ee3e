"""`harness fork`: plays a run with another answer at one call, and says what came of it."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import (
    NamedPath,
    World,
    chosen_profile,
    configuration,
    every_verb,
    only,
    out_folder,
    plugins,
    profile,
    seed,
    store,
    target,
    world,
)
from harness.core.values.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.core.scenario.scenario import Scenario
    from harness.core.values.messages import Json
    from harness.runner import Run
    from harness.verdicts.run_diff import RunDiff

DEFAULT_OUT = ".harness/forked"


@click.command("fork")
@click.argument("source", metavar="SCENARIO|RUN", type=NamedPath())
@target
@click.option("--at", "key", required=True, metavar="CALL",
              help="The call whose answer is another one: its name, such as main/model#4, or the "
              "number of its event, such as #14.")  # fmt: skip
@click.option("--set", "settings", multiple=True, required=True, metavar="NAME=VALUE",
              help="A field of the answer, with a value in YAML: say, use, input, stop; of a tool "
              "ok, error, hang; of a message text.")  # fmt: skip
@only
@profile
@seed
@world
@store
@out_folder(DEFAULT_OUT, "The folder for the scenario of the other way.")
@plugins
@every_verb
def command(
    source: Path, target: str, key: str, settings: tuple[str, ...], only: tuple[str, ...],
    profile_name: str, seed: int | None, world: World | None, store: str, out: Path, as_json: bool,
) -> int:  # fmt: skip
    """Play a run with another answer at one call, and say what came of it.

    SCENARIO is a scenario file; its first run is used. RUN is the folder of a run, or its
    history.jsonl. The scenario of the other way is written, so that it can be kept.
    """
    from harness.cli import terminal
    from harness.cli.shrink_source import checked_target, scenarios_of, under_profile
    from harness.diagnosis.fork import answer_at, forked
    from harness.diagnosis.redraws import open_ended
    from harness.redaction.encoder import json_line
    from harness.runner import run
    from harness.shrink.inlining import inlined
    from harness.verdicts.result import Invocation, run_command

    start, agent = Path.cwd(), chosen_profile(profile_name)
    target = target or agent.target
    number = configuration().seed if seed is None else seed
    scenario = inlined(under_profile(scenarios_of(source, only, number, agent, target)[0], agent))
    spec, given = checked_target(target, "", "--at"), _fields(settings)
    with redirect_stdout(sys.stderr):
        before = run(scenario, spec, world=world, store=store, capture="fd")
        answer = answer_at(before.history, key)
        way = open_ended(forked(scenario, before.history, answer, given))
        other = _named(way, answer.key)
        head = f"harness fork of {scenario.run_name} at {answer.key}"
        file = _written(other, start / out, head)
        # Under the name of the first run a finding of both is one finding.
        after = run(way, spec, world=world, store=store, capture="fd")
    found = _compared(before, after)
    asked = Invocation(path=str(out / file.name), target=target, world=world or "", store=store,
                       profile=profile_name)  # fmt: skip
    again = run_command(asked, other.run_name, other.seed)
    if as_json:
        terminal.out(json_line(_row(found, before, after, out / file.name, again)))
    else:
        terminal.out("\n".join(_text(found, before, after, out / file.name, again)))
    return 0


def _fields(settings: tuple[str, ...]) -> dict[str, Json]:
    """The fields of the answer. Raises InputError for one without a value."""
    from harness.files.yaml_text import parse

    given: dict[str, Json] = {}
    for setting in settings:
        name, is_set, value = setting.partition("=")
        if not is_set or not name:
            raise InputError(f"{setting!r} is not NAME=VALUE, as in say='It is done.'", "--set")
        given[name] = parse(value)[0] if value else ""
    return given


def _named(scenario: Scenario, key: str) -> Scenario:
    import msgspec

    from harness.cli.shrink_source import kebab

    name = kebab(f"{scenario.name}-{key}")
    title = f"{scenario.title or scenario.name}, with another answer to {key}"
    return msgspec.structs.replace(scenario, name=name, title=title, variant="", folder="")


def _written(scenario: Scenario, folder: Path, head: str) -> Path:
    from harness.files.regular_file import write_atomically
    from harness.files.scenario_text import scenario_yaml
    from harness.redaction.encoder import encoded

    file = folder / f"{scenario.name}.yaml"
    write_atomically(file, encoded(scenario_yaml(scenario, [head])))
    return file


def _compared(before: Run, after: Run) -> RunDiff:
    from harness.verdicts.run_diff import Played, run_diff

    sides = (Played(played.history, played.verdict, "") for played in (before, after))
    return run_diff(after.scenario.run_name, *sides)


def _text(found: RunDiff, before: Run, after: Run, file: Path, again: str) -> Iterator[str]:
    from harness.cli import terminal
    from harness.report.run_report import told, wrapped

    width, paint = terminal.width(), terminal.paint()
    yield f"A is {before.scenario.run_name} as it was, B with the other answer"
    for note in found.notes:
        yield from wrapped(note, width, "  ")
    for doubt in after.verdict.doubts:
        yield from wrapped(f"doubt of B: {doubt}", width, "  ")
    for words, findings in (("only in B", found.new), ("gone in B", found.gone)):
        roots = [finding for finding in findings if not finding.follows]
        yield from [f"{words}:"] if roots else []
        for finding in roots:
            yield from told(finding, after.verdict, width, paint)
    yield f"  scenario: {file}"
    yield f"  repeat:   {again}"


def _row(found: RunDiff, before: Run, after: Run, file: Path, again: str) -> dict[str, Any]:
    return {
        "name": before.scenario.run_name,
        "file": str(file),
        "before": before.verdict.verdict,
        "after": after.verdict.verdict,
        "new": [finding.code for finding in found.new],
        "gone": [finding.code for finding in found.gone],
        "differs": found.change.what if found.change else "",
        "repeat": again,
    }
