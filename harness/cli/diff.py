"""`harness diff`: compares two targets, or two folders of histories, run by run.

`harness run` plays the targets; the comparison always reads two histories on disk. The present
checks judge both, so a new finding comes from the agent and not from a changed check.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from harness.cli import options, terminal
from harness.cli.completion import completing, profiles, targets
from harness.cli.reports import html, outputs, reporting
from harness.core.values.errors import InputError

if TYPE_CHECKING:
    from harness.cli.diff_sides import Side, SideRequest, SideRun
    from harness.core.history.history import History
    from harness.verdicts.command_events import Report
    from harness.verdicts.run_diff import Diff, NotCompared, RunDiff

DEFAULT_OUT = ".harness/diff"
UNKNOWN = 3


@click.command("diff")
@click.argument("a", metavar="A", shell_complete=completing(targets))
@click.argument("b", metavar="B", shell_complete=completing(targets))
@click.argument("paths", nargs=-1, metavar="[SCENARIO|CASSETTE|DIR]...", type=options.NamedPath())
@click.option("--profile-a", default="", metavar="NAME|FILE", shell_complete=completing(profiles),
              help="The profile of the agent on side A.")  # fmt: skip
@click.option("--profile-b", default="", metavar="NAME|FILE", shell_complete=completing(profiles),
              help="The profile of the agent on side B.")  # fmt: skip
@click.option("--python-a", default="", metavar="PROGRAM",
              help="The Python that plays side A; it needs loop-harness.")  # fmt: skip
@click.option("--python-b", default="", metavar="PROGRAM",
              help="The Python that plays side B; it needs loop-harness.")  # fmt: skip
@options.only
@options.spoken("Play only runs on this wire.")
@options.real_s
@options.seed
@options.world
@options.out_folder(DEFAULT_OUT, "The folder for the played histories, in `a` and `b`.")
@click.option("--fail-on", type=click.Choice(["new", "any"]),
              help="Exit with 1 if a failing finding is new, or if anything differs.",
              )  # fmt: skip
@outputs
@html
@click.option("-v", "--verbose", is_flag=True, help="Show all details of each run that differs.")
@options.jobs
@options.named_plugins
@options.every_verb
def command(
    a: str, b: str, paths: tuple[Path, ...], profile_a: str, profile_b: str, python_a: str,
    python_b: str, only: tuple[str, ...], spoken: tuple[str, ...], seed: int | None,
    world: str | None, out: Path, fail_on: Literal["new", "any"] | None,
    verbose: bool, jobs: int | None, as_json: bool,
) -> int:  # fmt: skip
    """Compare two targets, or two folders of histories, run by run.

    A and B are each a folder that `harness run --out` wrote, or a target to play now. The report
    shows new and gone findings, the first call that differs, calls, tokens and waits.
    """
    from harness.cli.diff_sides import SideRequest
    from harness.report.diff_screen import counts, screen
    from harness.report.media.markdown import WIDTH
    from harness.verdicts.command_events import CommandStarted

    requests = (
        SideRequest(letter="a", named=a, python=python_a, profile=profile_a),
        SideRequest(letter="b", named=b, python=python_b, profile=profile_b),
    )
    _check(requests, paths)
    words = [*map(str, paths), *_flags("--only", only), *_flags("--wire", spoken),
             *_flags("--seed", [seed]), *_flags("--world", [world]), *_flags("--jobs", [jobs]),
             *options.plugin_flags()]  # fmt: skip
    sides = [_side(request, only, words, out) for request in requests]
    diff = _compared(*sides)
    compared: list[RunDiff | NotCompared] = [*diff.runs, *diff.left]
    results = [one.result for one in compared]
    started = CommandStarted(
        verb="diff", planned=tuple((result.name, result.scenario) for result in results),
        title=f"{a} → {b}: {counts(diff)}", notes=tuple(screen(diff, WIDTH)),
    )  # fmt: skip
    with reporting(started, _screen(diff, verbose, as_json)) as tell:
        for result in results:
            tell(result)
    return _status(diff, fail_on)


def _flags(flag: str, values: object) -> list[str]:
    given = values if isinstance(values, (list, tuple)) else ()
    return [word for value in given if value is not None for word in (flag, str(value))]


def _check(requests: tuple[SideRequest, SideRequest], paths: tuple[Path, ...]) -> None:
    """Raise InputError for sides that cannot be compared, before any run is played."""

    one, other = requests
    for request in requests:
        request.check()
        if request.is_ambiguous:
            folder = f"{request.named} is read as the folder here, not as the target"
            terminal.note(f"note: {folder}; ./{request.named} says so without this note")
    if one.is_folder and other.is_folder:
        if Path(one.named).resolve() == Path(other.named).resolve():
            raise InputError("both sides are the same histories: name two folders", one.named)
        if paths:
            what = "only for targets that are played; --only PATTERN selects among histories"
            raise InputError(what, str(paths[0]))
    if not one.is_folder and _same(one, other):
        said = "only behaviour that varies between runs can differ"
        terminal.note(f"note: both sides are {one.named}: {said}")


def _same(one: SideRequest, other: SideRequest) -> bool:
    return (one.named, one.python, one.profile) == (other.named, other.python, other.profile)


def _side(request: SideRequest, only: tuple[str, ...], words: list[str], out: Path) -> Side:
    from harness.cli.diff_sides import folder_side, played_side

    if request.is_folder:
        return folder_side(request.named, only)
    return played_side(request, words, out)


def _compared(a: Side, b: Side) -> Diff:
    """Return all runs of both sides. Raises InputError if no run can be compared."""
    from harness.verdicts.run_diff import Diff, NotCompared, RunDiff

    names = list(dict.fromkeys((*a.runs, *b.runs)))
    with terminal.progress(len(names), "runs compared") as advance:
        found: list[RunDiff | NotCompared] = []
        for name in names:
            found.append(_run(name, a, b))
            advance()
    runs = tuple(one for one in found if isinstance(one, RunDiff))
    left = tuple(one for one in found if isinstance(one, NotCompared))
    if not runs:
        said = f"no run can be compared: {left[0].name}: {left[0].reason}"
        raise InputError(said, f"{a.named} and {b.named}")
    return Diff(a.named, b.named, runs, left)


def _run(name: str, a: Side, b: Side) -> RunDiff | NotCompared:
    """Return a run of both sides, or why it cannot be compared."""
    from harness.checks.judge import judge
    from harness.core.history.history import encode
    from harness.verdicts.run_diff import NotCompared, Played, run_diff

    mine, its = a.runs.get(name), b.runs.get(name)
    if mine is None or its is None:
        return NotCompared(name, "missing", f"only in {'A' if mine else 'B'}")
    lacks = {"A": mine.reason, "B": its.reason}
    if any(lacks.values()):
        return NotCompared(name, "not_applicable", _not_applicable(lacks))
    try:
        one, other = _history(mine, "A"), _history(its, "B")
        _check_pair(one, other)
    except InputError as error:
        return NotCompared(name, "unusable", str(error))
    first = judge(one)
    second = first if encode(one.events) == encode(other.events) else judge(other)
    sides = Played(one, first, str(mine.history)), Played(other, second, str(its.history))
    try:
        return run_diff(name, *sides)
    except RecursionError:  # an agent may nest a value nearly as deep as Python's stack goes
        return NotCompared(name, "unusable", "a value is nested too deeply to be compared")


def _not_applicable(lacks: dict[str, str]) -> str:
    where = [letter for letter, reason in lacks.items() if reason]
    side = "on both sides" if len(where) == 2 else f"in {where[0]}"
    return f"not applicable {side}: {lacks[where[0]]}"


def _history(run: SideRun, letter: str) -> History:
    """Read a run from its file. Raises InputError for a history that cannot be used."""
    from harness.runner.run_folder import read_history

    if run.history is None:
        raise InputError(f"no history in {letter}")
    try:
        history = read_history(run.history)
    except InputError as error:
        raise InputError(f"{letter} cannot be read: {error}") from None
    if history.trace.ended is None:
        raise InputError(f"{letter} is incomplete: {run.history} has no end")
    return history


def _check_pair(one: History, other: History) -> None:
    """Raise InputError for two runs with different seeds."""
    a, b = ({start.seed for start in history.trace.starts} for history in (one, other))
    if a != b:
        said = [", ".join(map(str, sorted(seeds))) for seeds in (a, b)]
        raise InputError(f"seed {said[0]} in A and {said[1]} in B: play both with one --seed")


def _screen(diff: Diff, verbose: bool, as_json: bool) -> Report:
    """Return the verb's own report: what differs, told at the end."""
    from harness.report.diff_screen import details, json_lines, screen
    from harness.verdicts.command_events import CommandFinished, Event

    width, paint = terminal.width(), terminal.paint()

    def told(event: Event) -> Iterator[str]:
        if not isinstance(event, CommandFinished):
            return
        if as_json:
            yield from json_lines(diff)
            return
        if verbose:
            yield from details(diff, width, paint)
            yield ""
        yield from screen(diff, width, paint)

    return told


def _status(diff: Diff, fail_on: str | None) -> int:
    """Return 1 for what `--fail-on` names, else 3 if a history cannot be used, else 0."""
    if (fail_on == "new" and diff.has_new) or (fail_on == "any" and diff.has_any):
        return 1
    return UNKNOWN if any(left.kind == "unusable" for left in diff.left) else 0
