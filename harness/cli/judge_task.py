"""The files that `judge` is given, and one file as its task, for any process.

A run of the harness is one history; a recording of another program is one history per transcript.
The recorded calls of one agent loop are one history too. An error in a file is one line, and the
command continues. Small files go to a worker in batches.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harness.core.scenario.scenario import Expect
from harness.core.values.errors import InputError
from harness.core.values.profile import NO_PROFILE, Profile
from harness.core.values.verdict import FindingClass
from harness.core.values.visible_text import visible_line
from harness.engines import Engine, ordered_map
from harness.files.regular_file import FoundFile, changed_ns, files_below, head_of
from harness.parts.loading import unknown_name
from harness.recordings.transcripts import Refusal
from harness.redaction.encoder import reported
from harness.verdicts.command_events import FileRead
from harness.verdicts.result import Result, evidence, of_transcript

if TYPE_CHECKING:
    from harness.core.history.history import History
    from harness.core.values.messages import Json
    from harness.recordings.transcripts import Recording


CHUNK_FILES, CHUNK_BYTES = 32, 4_000_000
"""The most bytes that a worker gets at once, unless a single file is larger."""

COLLECT_EVERY = 200_000
"""The number of new objects between two garbage collections."""

DIED = "the process that read it died"


class JudgeTask(msgspec.Struct, frozen=True, kw_only=True):
    """A file to be judged.

    `named`: the user named it, so the whole reason of a refusal is reported. `expect`: what its
    runs are asked in place of their scenarios' expectation. `refused`: why it is not opened.
    `since_s`: of a database only sessions that changed since then. `recalled`: the position of an
    earlier result in the `journal`.
    """

    path: str
    kind: str = "auto"
    named: bool = False
    check: str | None = None
    profile: Profile = NO_PROFILE
    fail_on: FindingClass | None = None
    expect: Expect | None = None
    refused: str = ""
    size_bytes: int = 0
    since_s: float | None = None
    journal: str = ""
    recalled: int | None = None


TaskChunk = tuple[JudgeTask, ...]


def check_names(kind: str, check: str | None) -> None:
    """Raise InputError for a format or a check that does not exist."""
    from harness.checks import names
    from harness.recordings.recognition import AUTO, formats

    if kind not in (known := {AUTO, *formats()}):
        raise InputError(f"no such format; {unknown_name(kind, known)}", f"--format {kind}")
    if check is not None and check not in names():
        raise InputError(f"no such check; {unknown_name(check, names())}", f"--check {check}")


def shown(path: str) -> str:
    """Return a path as one line of text; invalid UTF-8 and control characters are escaped."""
    return visible_line(os.fsencode(path).decode("utf-8", "backslashreplace"))


def chunks(tasks: Iterable[JudgeTask], workers: int) -> Iterator[TaskChunk]:
    """Yield the tasks in batches: small files together, or one at a time for one worker."""
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


def judge_chunk(chunk: TaskChunk) -> tuple[FileRead, ...]:
    """Return the result of each file."""
    with few_collections():
        return tuple(map(judge_file, chunk))


@contextmanager
def few_collections() -> Iterator[None]:
    """Collect garbage rarely: it takes a fifth of the time, and recordings have no cycles."""
    usual = gc.get_threshold()
    gc.set_threshold(COLLECT_EVERY, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def judge_files(engine: Engine, tasks: Iterable[JudgeTask]) -> Iterator[FileRead]:
    """Yield the result of each file, in order. A file that ends its process costs two workers."""
    lost = partial(lost_files, engine)
    batches = chunks(tasks, engine.workers)
    return chain.from_iterable(ordered_map(engine, judge_chunk, batches, lost, attempts=1))


def lost_files(engine: Engine, chunk: TaskChunk) -> tuple[FileRead, ...]:
    """Judge each file of a batch again, alone, after one of them ended the process."""
    singly = ((task,) for task in chunk)
    found = ordered_map(engine, judge_chunk, singly, lost_file, attempts=1)
    return tuple(chain.from_iterable(found))


def lost_file(chunk: TaskChunk) -> tuple[FileRead, ...]:
    """Return the refusal of a file that ended the process which read it alone."""
    (task,) = chunk
    return (_refused(task, Refusal("", DIED)),)


def _refused(task: JudgeTask, why: Refusal) -> FileRead:
    return reported(FileRead(path=shown(task.path), refusals=(why,), named=task.named))


def judge_file(task: JudgeTask) -> FileRead:
    """Return the result of a file, as values for JSON; an unreadable file is refused with the
    reason.

    No file raises an error here, because an error would end the whole command.
    """
    from harness.cli.judge_journal import recall

    try:
        known = recall(task.journal, task.recalled) if task.recalled is not None else None
        return known or reported(_judge(task))
    except InputError as error:
        why = _refusal(error, task)
    except MemoryError:
        why = Refusal("", "needs more memory than there is")
    except RecursionError:
        why = Refusal("", "nested too deeply")
    except (Exception, SystemExit) as error:
        why = Refusal("", "the reader failed", type(error).__name__)
    return _refused(task, why)


def _refusal(error: InputError, task: JudgeTask) -> Refusal:
    """Return the whole error for a named file, else the part that is equal across files."""
    if not task.named:
        return Refusal("", error.reason)
    place = error.place.removeprefix(task.path).removeprefix(": ")
    return Refusal(place, error.reason, error.more)


def _judge(task: JudgeTask) -> FileRead:
    from harness.cli.judge_sessions import named_session, named_transcript
    from harness.files.recording_file import read_any_recording

    if task.refused:
        raise InputError(task.refused)
    every = _of_sessions(read_any_recording(Path(task.path), task.kind))
    recording = every if task.since_s is None else _changed(every, task.since_s)
    refusals = tuple(msgspec.structs.replace(one, place="") for one in recording.refusals)
    session = named_session(task.path, recording)
    names = chain(
        (named_transcript(one, session) for one in recording.transcripts), repeat(session.called)
    )
    transcripts = tuple(
        msgspec.structs.replace(one, session=name)
        for one, name in zip(_transcripts(task, recording), names, strict=False)
    )
    empty = () if every.transcripts else (Refusal("", "holds no transcript"),)
    return FileRead(
        path=shown(task.path),
        format=recording.format,
        results=transcripts,
        refusals=refusals if refusals or transcripts else empty,
        notes=recording.notes,
        named=task.named,
        called="" if task.named else session.called,
        day=session.day,
    )


def _changed(recording: Recording, since_s: float) -> Recording:
    """Return the recording without sessions that have not changed since a time."""
    kept = (t for t in recording.transcripts if t.changed_s is None or t.changed_s >= since_s)
    return msgspec.structs.replace(recording, transcripts=tuple(kept))


def _transcripts(task: JudgeTask, recording: Recording) -> Iterator[Result]:
    from harness.recordings.transcript_counts import counts

    counted: list[Json] = [{}] if recording.history is not None else []
    counted += map(counts, recording.transcripts)
    for (name, history), numbers in zip(_histories(recording), counted, strict=True):
        yield _judged(task, name, recording.format, history, numbers)


def _histories(recording: Recording) -> Iterator[tuple[str, History]]:
    """Return the histories of a file by name: a run of the harness, or transcripts."""
    from harness.recordings.transcript_history import to_history

    if (history := recording.history) is not None:
        yield next((start.run for start in history.trace.starts), ""), history
    for transcript in recording.transcripts:
        yield transcript.name, to_history(transcript)


@lru_cache(maxsize=1)
def _recording(path: str, kind: str) -> Recording:
    """Read a file again; the cache holds one, because a file's transcripts come in sequence."""
    from harness.files.recording_file import read_any_recording

    return _of_sessions(read_any_recording(Path(path), kind))


def _of_sessions(recording: Recording) -> Recording:
    """Return the recording with the calls of one session as one transcript."""
    from harness.recordings.exchange_sessions import sessions

    return msgspec.structs.replace(recording, transcripts=sessions(recording.transcripts))


def judged_history(run: Result, kind: str) -> History | None:
    """Return the history of a judged transcript; None if the file or the transcript is gone."""
    try:
        found = _histories(_recording(run.file, kind))
        return next(
            (history for name, history in found if name == run.name.removeprefix(f"{run.file}/")),
            None,
        )
    except InputError:
        return None


def _judged(task: JudgeTask, name: str, format: str, history: History, counted: Json) -> Result:
    from harness.checks.judge import checks, judge
    from harness.core.history.history import under_profile, under_settings

    if task.expect is not None:
        wanted = msgspec.to_builtins(task.expect)
        history = under_settings(history, lambda settings: {**settings, "expect": wanted})
    if task.profile != NO_PROFILE:
        history = under_profile(history, task.profile)
    verdict = judge(history, only=task.check, fail_on=task.fail_on)
    chosen = [task.check] if task.check else list(checks())
    left = {lack.check for lack in verdict.not_applicable}
    return of_transcript(
        shown(task.path),
        name,
        format,
        verdict,
        counts=counted,
        evidence=evidence(history, (*verdict.findings, *verdict.known)),
        asked=tuple(name for name in chosen if name not in left),
        asked_of=len(chosen),
    )


def files(paths: Sequence[Path], since_s: float | None = None) -> Iterator[FoundFile]:
    """Yield each file once, in order; with `since_s` only those that changed since then.

    Raises InputError for a path that does not exist.
    """
    for path in paths:
        if not path.exists():
            raise InputError("no such file or folder", str(path))
    seen: set[str] = set()
    for path in paths:
        itself = FoundFile(os.fspath(path), named=True)
        for found in _below(itself.path) if path.is_dir() else [itself]:
            if since_s is not None and _is_older(found.path, since_s):
                continue
            if len(paths) == 1:
                yield found
            elif found.path not in seen:
                seen.add(found.path)
                yield found


def _is_older(path: str, since_s: float) -> bool:
    try:
        return changed_ns(path) < since_s * 1e9
    except OSError:  # it is gone or cannot be reached, and is refused with the reason
        return False


def _below(folder: str) -> Iterator[FoundFile]:
    return (
        found
        for found in files_below(folder)
        if not _is_verdict(found.path) and not _is_report(found.path)
    )


def _is_report(path: str) -> bool:
    """Whether a file is what `harness run` writes of many runs."""
    from harness.report.media.text import EACH_RUN, REPORT

    if os.path.basename(path) != REPORT:
        return False
    try:
        return head_of(Path(path)).startswith(EACH_RUN.encode())
    except InputError:
        return False


def _is_verdict(path: str) -> bool:
    folder, name = os.path.split(path)
    return name == "verdict.json" and os.path.exists(os.path.join(folder, "history.jsonl"))
