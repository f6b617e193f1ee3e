"""One file as a task of `judge`, for any process.

A run of ours is judged as its history; each transcript of another recording is judged as one, and
so are the recorded calls of one agent loop. An error in a file is one line and the run continues.
Small files go to a worker in batches.
"""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.loaded_plugins import unknown_name
from harness.core.values.messages import printable
from harness.core.values.profile import NO_PROFILE, Profile
from harness.core.values.verdict import FindingClass
from harness.core.values.visible_text import visible_line
from harness.engines import Engine
from harness.engines.ordered_map import ordered_map
from harness.report.judge_report import JudgedFile, JudgedTranscript
from harness.report.run_summary import evidence

if TYPE_CHECKING:
    from harness.core.history.history import History
    from harness.core.values.messages import Json
    from harness.recordings.transcripts import Recording
    from harness.report.run_summary import RunSummary

CHUNK_FILES, CHUNK_BYTES = 32, 4_000_000
"""The most that a worker gets at once, unless one file alone is larger."""

COLLECT_EVERY = 200_000
"""How many values are made between two searches for garbage."""

DIED = "the process that read it died"


class JudgeTask(msgspec.Struct, frozen=True, kw_only=True):
    """A file to be judged.

    `named`: the user named it, so that all of why it cannot be read is said. `refused`: it is not
    to be opened, and why. `recalled`: it was judged before, and stands in the `journal` there.
    """

    path: str
    kind: str = "auto"
    named: bool = False
    check: str | None = None
    profile: Profile = NO_PROFILE
    fail_on: FindingClass | None = None
    refused: str = ""
    size_bytes: int = 0
    journal: str = ""
    recalled: int | None = None


TaskChunk = tuple[JudgeTask, ...]


def check_names(kind: str, check: str | None) -> None:
    """Raise InputError for a format or a check that does not exist."""
    from harness.checks.judge import names
    from harness.recordings.recognition import AUTO, formats

    if kind not in (known := {AUTO, *formats()}):
        raise InputError(f"no such format; {unknown_name(kind, known)}", f"--format {kind}")
    if check is not None and check not in names():
        raise InputError(f"no such check; {unknown_name(check, names())}", f"--check {check}")


def shown(path: str) -> str:
    """A path as a line of text: a byte that is no UTF-8 and a control character are written out."""
    return visible_line(os.fsencode(path).decode("utf-8", "backslashreplace"))


def chunks(tasks: Iterable[JudgeTask], workers: int) -> Iterator[TaskChunk]:
    """The tasks, several at a time as long as they are small; for one worker singly."""
    if workers == 1:
        yield from ((task,) for task in tasks)
        return
    held: list[JudgeTask] = []
    size_bytes = 0
    for task in tasks:
        if held and (len(held) >= CHUNK_FILES or size_bytes + task.size_bytes > CHUNK_BYTES):
            yield tuple(held)
            held, size_bytes = [], 0
        held.append(task)
        size_bytes += task.size_bytes
    if held:
        yield tuple(held)


def judge_chunk(chunk: TaskChunk) -> tuple[JudgedFile, ...]:
    """What is found in each of the files."""
    with few_collections():
        return tuple(map(judge_file, chunk))


@contextmanager
def few_collections() -> Iterator[None]:
    """Collect garbage rarely: recordings have no cycles, and it takes a fifth of the time."""
    usual = gc.get_threshold()
    gc.set_threshold(COLLECT_EVERY, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def judge_files(engine: Engine, tasks: Iterable[JudgeTask]) -> Iterator[JudgedFile]:
    """What is found in each file, in order. A file that ends its process costs two workers."""
    lost = partial(lost_files, engine)
    batches = chunks(tasks, engine.workers)
    return chain.from_iterable(ordered_map(engine, judge_chunk, batches, lost, attempts=1))


def lost_files(engine: Engine, chunk: TaskChunk) -> tuple[JudgedFile, ...]:
    """What is known of files of which one has ended its process: each is tried once more, alone."""
    singly = ((task,) for task in chunk)
    found = ordered_map(engine, judge_chunk, singly, lost_file, attempts=1)
    return tuple(chain.from_iterable(found))


def lost_file(chunk: TaskChunk) -> tuple[JudgedFile, ...]:
    """What is said of a file that has ended the process that read it alone."""
    (task,) = chunk
    return (_refused(task, DIED),)


def _refused(task: JudgeTask, reason: str) -> JudgedFile:
    return JudgedFile(path=shown(task.path), refusals=(reason,), named=task.named)


def judge_file(task: JudgeTask) -> JudgedFile:
    """What is found in a file, as JSON can say it; what cannot be read is refused, with the reason.

    Nothing that a file does is an error here, for such an error would end the whole command.
    """
    from harness.cli.judge_journal import recall

    try:
        known = recall(task.journal, task.recalled) if task.recalled is not None else None
        return known or _sayable(_judge(task))
    except InputError as error:
        reason = _reason(error, task)
    except MemoryError:
        reason = "needs more memory than there is"
    except RecursionError:
        reason = "nested too deeply"
    except (Exception, SystemExit) as error:
        reason = f"the reader failed: {type(error).__name__}"
    return _refused(task, reason)


def _sayable(file: JudgedFile) -> JudgedFile:
    """The file with each half of a surrogate pair written out; an id or a name may hold one."""
    try:
        msgspec.json.encode(file)
    except UnicodeEncodeError:
        return msgspec.convert(printable(file), JudgedFile, str_keys=True)
    return file


def _reason(error: InputError, task: JudgeTask) -> str:
    """Return the whole error for a named file; else the part to count, equal across files."""
    if not task.named:
        return re.split(r"[:;]", error.what)[0]
    place = error.place.removeprefix(task.path).removeprefix(": ")
    return f"{place}: {error.what}" if place else error.what


def _judge(task: JudgeTask) -> JudgedFile:
    from harness.files.recording_file import read_any_recording

    if task.refused:
        raise InputError(task.refused)
    recording = _of_sessions(read_any_recording(Path(task.path), task.kind))
    refusals = tuple(refusal.reason for refusal in recording.refusals)
    transcripts = tuple(_transcripts(task, recording))
    return JudgedFile(
        path=shown(task.path),
        format=recording.format,
        transcripts=transcripts,
        refusals=refusals if refusals or transcripts else ("holds no transcript",),
        notes=recording.notes,
        named=task.named,
    )


def _transcripts(task: JudgeTask, recording: Recording) -> Iterator[JudgedTranscript]:
    from harness.recordings.transcript_counts import counts

    counted: list[Json] = [{}] if recording.history is not None else []
    counted += map(counts, recording.transcripts)
    for (name, history), numbers in zip(_histories(recording), counted, strict=True):
        yield _transcript(task, name, history, numbers)


def _histories(recording: Recording) -> Iterator[tuple[str, History]]:
    """What a file holds, by its names: a history of ours, or transcripts as histories."""
    from harness.recordings.transcript_history import to_history

    if (history := recording.history) is not None:
        yield next((start.run for start in history.trace.starts), ""), history
    for transcript in recording.transcripts:
        yield transcript.name, to_history(transcript)


@lru_cache(maxsize=1)
def _recording(path: str, kind: str) -> Recording:
    """A file that is read again; those of one file follow each other."""
    from harness.files.recording_file import read_any_recording

    return _of_sessions(read_any_recording(Path(path), kind))


def _of_sessions(recording: Recording) -> Recording:
    """The recording with the calls of one session as one transcript."""
    from harness.recordings.exchange_sessions import sessions

    return msgspec.structs.replace(recording, transcripts=sessions(recording.transcripts))


def judged_history(run: RunSummary, kind: str) -> History | None:
    """The history that a judged transcript had; None for a file that is gone or not named so."""
    from harness.report.judged_runs import transcript_name

    try:
        found = _histories(_recording(run.file, kind))
        return next((history for name, history in found if name == transcript_name(run)), None)
    except InputError:
        return None


def _transcript(task: JudgeTask, name: str, history: History, counted: Json) -> JudgedTranscript:
    from harness.checks.judge import checks, judge
    from harness.core.history.history import under_profile

    if task.profile != NO_PROFILE:
        history = under_profile(history, task.profile)
    verdict = judge(history, only=task.check, fail_on=task.fail_on)
    wanted = [task.check] if task.check else list(checks())
    left = {lack.check for lack in verdict.not_applicable}
    return JudgedTranscript(
        name=name,
        verdict=verdict,
        counts=counted,
        evidence=evidence(history, (*verdict.findings, *verdict.known)),
        asked=tuple(name for name in wanted if name not in left),
        asked_of=len(wanted),
    )
