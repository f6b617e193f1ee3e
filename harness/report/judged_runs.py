"""Presents transcripts as runs, for the files and the baseline that `judge` shares with `run`.

A recording is treated as a scenario and each of its transcripts as a run, FILE/TRANSCRIPT.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.values.verdict import NotApplicable, Verdict
from harness.report.judge_report import JudgedFile, judge_command, refusal_line
from harness.results.result import Result

NOUN = "transcript"


def judged_runs(file: JudgedFile) -> Iterator[Result]:
    """Yield a run for each transcript, in order, then one for the refusals of a named file.

    Refusals of files in a folder are only counted in the report, because most of those files are
    not recordings.
    """
    for transcript in file.transcripts:
        yield _run(file, transcript.name, transcript.verdict, transcript.evidence)
    if file.named and file.refusals:
        refused = NotApplicable("run", f"refused: {'; '.join(map(refusal_line, file.refusals))}")
        yield _run(file, "refused", Verdict("not_applicable", not_applicable=(refused,)), {})


def _run(file: JudgedFile, name: str, verdict: Verdict, evidence: dict[int, str]) -> Result:
    return Result(
        name=f"{file.path}/{name}", scenario=file.path, title=file.format, target="", world="",
        seed=0, verdict=verdict, file=file.path, repeat=judge_command(file.path),
        evidence=evidence,
    )  # fmt: skip


def transcript_name(run: Result) -> str:
    """Return the name of the transcript behind a run."""
    return run.name.removeprefix(f"{run.file}/")
