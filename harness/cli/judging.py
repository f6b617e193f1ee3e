"""One file as a task of `judge`: a path in, what was found in it out, for any process to do.

A run of ours is judged as the history that it is; any other recording is read as transcripts, and
each of them as a history.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harness.core.errors import InputError, nearest
from harness.report.recordings import JudgedFile, JudgedTranscript
from harness.report.summary import evidence

if TYPE_CHECKING:
    from harness.core.history import History
    from harness.core.messages import Json
    from harness.incidents.transcripts import Recording


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A file to be judged; `named`: the user named it, so that it must be readable."""

    path: str
    named: bool
    kind: str
    check: str | None = None


def check_names(kind: str, check: str | None) -> None:
    """Raise InputError for a format or a check that does not exist."""
    from harness.checks.judge import names
    from harness.incidents.read import FORMATS

    if kind not in (known := {"auto", *FORMATS}):
        raise InputError(f"no such format; {nearest(kind, known)}", f"--format {kind}")
    if check is not None and check not in names():
        raise InputError(f"no such check; {nearest(check, names())}", f"--check {check}")


def judge_file(job: Job) -> JudgedFile:
    """What is found in a file. Raises InputError for a named file that cannot be read."""
    try:
        file = _judge(job)
    except InputError as error:
        if job.named:
            raise
        return JudgedFile(path=job.path, refusals=(_reason(error),))
    if job.named and not file.transcripts:
        raise InputError(file.refusals[0] if file.refusals else "holds no transcript", job.path)
    return file


def _reason(error: InputError) -> str:
    """The part of an error that does not change from file to file, so that it can be counted."""
    return re.split(r"[:;]", error.what)[0]


def _judge(job: Job) -> JudgedFile:
    from harness.incidents.read import read

    try:
        data = Path(job.path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", job.path) from None
    recording = read(data, job.path, job.kind)
    return JudgedFile(
        path=job.path,
        format=recording.format,
        transcripts=tuple(_transcripts(job, recording)),
        refusals=tuple(refusal.reason for refusal in recording.refusals),
        notes=recording.notes,
    )


def _transcripts(job: Job, recording: Recording) -> Iterator[JudgedTranscript]:
    from harness.core.events import Started
    from harness.incidents.as_history import as_history
    from harness.incidents.counts import counts

    if recording.history is not None:
        started = (e for e in recording.history.events if isinstance(e, Started))
        yield _transcript(job, next((e.run for e in started), ""), recording.history, {})
    for transcript in recording.transcripts:
        yield _transcript(job, transcript.name, as_history(transcript), counts(transcript))


def _transcript(job: Job, name: str, history: History, counted: Json) -> JudgedTranscript:
    from harness.checks.judge import judge

    verdict = judge(history, only=job.check)
    return JudgedTranscript(
        name=name,
        verdict=verdict,
        counts=counted,
        evidence=evidence(history, (*verdict.findings, *verdict.known)),
    )
