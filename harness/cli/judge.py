"""`harness judge`: recordings of other programs, and runs of ours, put to the same checks.

A file that is named must be readable; in a folder, what is no recording is a refusal, counted by
its reason. What could be read is judged in either case, whatever stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import every_verb, jobs
from harness.core.errors import InputError

if TYPE_CHECKING:
    from harness.report.recordings import JudgedFile


@click.command("judge")
@click.argument(
    "paths", nargs=-1, required=True, metavar="FILE|DIR...", type=click.Path(path_type=Path)
)
@click.option(
    "--format",
    "kind",
    default="auto",
    show_default=True,
    metavar="FORMAT",
    help="How to read the files: auto, or one of `harness list formats`.",
)
@click.option("--check", metavar="NAME", help="Only this check.")
@click.option("-v", "--verbose", is_flag=True, help="Name each refused file and its reasons.")
@jobs
@every_verb
def command(
    paths: tuple[Path, ...], kind: str, check: str | None, verbose: bool, jobs: int,
    as_json: bool,
) -> int:  # fmt: skip
    """Judge recordings: runs of ours, and transcripts of others.

    Of a DIR, every file is tried. Exit status 1 for a finding, 2 when nothing could be read.
    """
    from harness.cli import terminal
    from harness.cli.judging import Job, check_names, judge_file
    from harness.cli.pool import each

    check_names(kind, check)
    tasks = [Job(path=str(f), named=named, kind=kind, check=check) for f, named in files(paths)]
    judged = []
    with terminal.progress(len(tasks), "files") as advance:
        for file in each(judge_file, tasks, jobs):
            _show(file, as_json, verbose)
            judged.append(file)
            advance()
    return _end(judged, as_json)


def files(paths: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """Each file once, and whether it was named itself; a folder gives all files below it.

    A verdict of ours is no recording, and left out. Raises InputError for a path that is nothing.
    """
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise InputError("no such file or folder", str(path))
        inside = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in inside:
            verdict = file.name == "verdict.json" and file.with_name("history.jsonl").exists()
            if file not in seen and (file == path or not verdict):
                seen.add(file)
                yield file, file == path


def _show(file: JudgedFile, as_json: bool, verbose: bool) -> None:
    from harness.cli import terminal
    from harness.report import recordings

    if as_json:
        for line in recordings.json_lines(file):
            terminal.out(line)
        for refusal in file.refusals:
            terminal.note(f"{file.path}: refused: {refusal}")
        return
    for line in recordings.text(file, terminal.width(), terminal.paint(), verbose):
        terminal.out(line)


def _end(judged: Sequence[JudgedFile], as_json: bool) -> int:
    from harness.cli import terminal
    from harness.core.verdict import EXIT_STATUS, worst
    from harness.report import recordings

    if not as_json:
        for line in recordings.ending(judged, terminal.paint()):
            terminal.out(line)
    words = [transcript.verdict.verdict for file in judged for transcript in file.transcripts]
    if not words:
        raise InputError("nothing could be read: see the reasons for each refusal, or --format")
    return EXIT_STATUS[worst(*words)]
