"""`harness judge`: applies the checks to recordings of other programs and to runs of the harness.

An unreadable file is one line, or in a folder a refusal counted by reason; the rest is judged. Only
the counts stay in memory, so a folder may hold any number of files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from harness.cli import options, terminal
from harness.cli.baseline import baseline, chosen_baseline
from harness.cli.completion import check_names, completing
from harness.cli.interrupts import deferred
from harness.cli.reports import html, outputs, reporting
from harness.core.values.errors import InputError
from harness.files.owner import LOCK, out_lock

if TYPE_CHECKING:
    from harness.cli.judge_journal import JudgeJournal, Stamp
    from harness.cli.judge_task import JudgeTask
    from harness.cli.reports import Telling
    from harness.core.values.verdict import FindingClass
    from harness.files.regular_file import FoundFile
    from harness.verdicts.command_events import FileRead, Report


@click.command("judge")
@click.argument("paths", nargs=-1, metavar="FILE|DIR...", type=options.NamedPath())
@click.option(
    "--mine", is_flag=True, help="Judge the sessions that agents keep below your home folder."
)
@click.option("--since", metavar="DATE|DURATION",
              help="Only files that changed since then: 2026-11-20, 7d, 24h.")  # fmt: skip
@options.recording_format("How to read the files")
@options.profile
@options.fail_on
@click.option(
    "--check", shell_complete=completing(check_names), metavar="LOCK", help="Apply only this check."
)
@click.option("--expect", type=options.NamedPath(), metavar="FILE",
              help="Ask for what `expect` in FILE says, as a scenario does.")  # fmt: skip
@click.option("--resume", type=click.Path(path_type=Path), metavar="DIR",
              help="Keep the results in DIR, and reuse the results that are there.")  # fmt: skip
@click.option("--follow", is_flag=True,
              help="Go on: tell new findings as sessions grow, a line each.")  # fmt: skip
@options.minutes
@outputs
@html
@baseline
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Name each file, all findings, and each reason for a refusal.",
)
@options.jobs
@options.engine
@options.named_plugins
@options.every_verb
def command(
    paths: tuple[Path, ...], mine: bool, since: str | None, kind: str, profile_name: str,
    fail_on: FindingClass | None, check: str | None, expect: Path | None,
    resume: Path | None, follow: bool, minutes: float | None, verbose: bool, jobs: int | None,
    engine: options.EngineName, as_json: bool,
) -> int:  # fmt: skip
    """Judge recordings: runs of the harness, and transcripts of other programs.

    In a DIR, every file is tried. Exit status 1 for a finding that fails, 2 if no file could be
    read; 0 if --since leaves none. With --follow only findings that come later count, and with
    --since those of files that changed since then; it ends at Ctrl-C or after --minutes.
    """
    from harness.cli.judge_sessions import begin_of
    from harness.cli.judge_task import check_names, judge_files, judged_history
    from harness.verdicts.command_events import CommandStarted

    check_names(kind, check)
    begin_s = begin_of(since) if since is not None else None
    found = _chosen(paths, mine, begin_s)
    if minutes and not follow:
        raise InputError("only with --follow", "--minutes")
    asked = _asked(kind, check, profile_name, fail_on, expect, begin_s if resume is None else None)
    if follow:
        return _follow(found, asked, minutes, tells_all=since is not None, as_json=as_json)
    does = options.worker_engine(engine, jobs, _file_count(found))
    started = CommandStarted(verb="judge", noun="transcript")
    screen, read = _screen(as_json, verbose), partial(judged_history, kind=kind)
    with reporting(started, screen, read=read) as tell, ExitStack() as held:
        journal = _journal(resume, held) if resume else None
        stamps: dict[str, Stamp] = {}
        todo = _todo(found(), asked, journal, stamps)
        advance = held.enter_context(terminal.progress(partial(_all_files, found), "files"))
        for file in judge_files(does, todo):
            with deferred():
                if journal and (stamp := stamps.pop(file.path, None)):
                    journal.add(stamp, file)
                _tell(file, tell, shows_refusals=as_json or (file.named and not verbose))
            advance()
    return tell.status if tell.words else _nothing_read(found, since)


def _asked(
    kind: str, check: str | None, profile: str, fail_on: FindingClass | None, expect: Path | None,
    since_s: float | None,
) -> JudgeTask:  # fmt: skip
    """Return a task with what is asked of every file."""
    from harness.cli.judge_task import JudgeTask
    from harness.files.scenario_file import load_expectation

    return JudgeTask(path="", kind=kind, check=check, profile=options.chosen_profile(profile),
                     fail_on=fail_on, expect=load_expectation(expect) if expect else None,
                     since_s=since_s,
                     )  # fmt: skip


_OF_THE_END = ("resume", "page", "report", "junit", "markdown", "jobs", "engine")


def _follow(
    found: Callable[[], Iterator[FoundFile]], asked: JudgeTask, minutes: float | None, *,
    tells_all: bool, as_json: bool,
) -> int:  # fmt: skip
    from harness.cli.judge_follow import Follower
    from harness.cli.judge_task import judge_files
    from harness.engines import Serial

    options.refuse_given("--follow never comes to an end that could be written", _OF_THE_END)

    def judged(files: Iterable[FoundFile]) -> Iterator[FileRead]:
        return judge_files(Serial(), _todo(files, asked, None, {}))

    follower = Follower(found, judged, chosen_baseline().take, as_json=as_json)
    follower.follow(minutes, tells_all=tells_all)
    return int(follower.has_failed)


def _nothing_read(found: Callable[[], Iterator[FoundFile]], since: str | None) -> int:
    """Return the status without a result: a job of every day meets days on which no file is new."""
    if since is None or next(found(), None) is not None:
        raise InputError("no file could be read: see the reason of each refusal, or set --format")
    return 0


def _screen(as_json: bool, verbose: bool) -> Report:
    from harness.report.media.json_lines import JsonLines
    from harness.report.media.judged_files import JudgedFiles

    return JsonLines() if as_json else JudgedFiles(terminal.width(), terminal.paint(), verbose)


def _tell(file: FileRead, tell: Telling, *, shows_refusals: bool) -> None:
    """Tell the transcripts of a file, then the file.

    The refusals of a named file are one more result. Those in a folder are only counted, because
    most of those files are not recordings.
    """
    from harness.verdicts.command_events import refusal_line
    from harness.verdicts.result import of_refusals

    taken = tuple(map(tell, file.results))
    if file.named and file.refusals:
        tell(of_refusals(file.path, file.format, [*map(refusal_line, file.refusals)]))
    tell.tell(msgspec.structs.replace(file, results=taken))
    for refusal in file.refusals if shows_refusals else ():
        terminal.note(f"{file.path}: {refusal_line(refusal)}")


def _journal(folder: Path, held: ExitStack) -> JudgeJournal:
    from harness.cli.judge_journal import JudgeJournal

    held.enter_context(out_lock(folder))
    return held.enter_context(JudgeJournal(folder))


def _chosen(
    paths: tuple[Path, ...], mine: bool, begin_s: float | None
) -> Callable[[], Iterator[FoundFile]]:
    """Return what yields the files: those that the user named, with `mine` those of his agents."""
    from harness.cli.judge_sessions import own_folders, shown_time
    from harness.cli.judge_task import files

    if mine:
        own = own_folders()
        terminal.note("; ".join(f"{program}: {folder}" for folder, program in own.items()))
        paths = (*paths, *own)
    if not paths:
        raise click.UsageError("Missing argument 'FILE|DIR...': name one, or set --mine.")
    if begin_s is not None:
        terminal.note(f"files that changed since {shown_time(begin_s)}")
    return partial(files, paths, begin_s)


def _all_files(found: Callable[[], Iterator[FoundFile]]) -> int:
    return sum(1 for _ in found())


def _file_count(found: Callable[[], Iterator[FoundFile]]) -> int:
    """Count the files, up to the number that matters for the number of workers."""
    return sum(1 for _ in islice(found(), options.cores() * options.TASKS_A_WORKER))


def _todo(
    every: Iterable[FoundFile],
    asked: JudgeTask,
    journal: JudgeJournal | None,
    stamps: dict[str, Stamp],
) -> Iterator[JudgeTask]:
    """Yield the files as jobs; add the stamps of files for the journal to `stamps`.

    `asked` is a job with the settings that all files share.
    """
    from harness.cli.judge_journal import asked_for, stamp
    from harness.cli.judge_task import shown

    words = asked_for(asked.kind, asked.check, asked.profile, asked.fail_on, asked.expect)
    folder = journal.path.parent.resolve() if journal else Path()
    own = {folder / journal.path.name, folder / LOCK} if journal else set[Path]()
    for found in every:
        if own and Path(found.path).resolve() in own:
            continue
        known = None if found.refused else stamp(found.path, shown(found.path), words)
        place = journal.place(known) if journal else None
        if journal and known and place is None:
            stamps[known.path] = known
        yield msgspec.structs.replace(
            asked, path=found.path, named=found.named,
            refused=found.refused, size_bytes=known.size_bytes if known and place is None else 0,
            recalled=place, journal=str(journal.path) if journal else "",
        )  # fmt: skip
