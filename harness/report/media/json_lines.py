"""The JSON Lines of the command line; docs/outputs.md promises the keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from harness.checks.judge import rules
from harness.core.values.messages import Json
from harness.core.values.verdict import Finding, NotApplicable, Verdict
from harness.redaction.encoder import json_line
from harness.report.media.screen import LISTED_MAX
from harness.verdicts.baseline import BaselineChange
from harness.verdicts.command_events import CommandFinished, CommandStarted, Event, FileRead
from harness.verdicts.reach import NOTHING, Reach
from harness.verdicts.result import Lack, Result, lacks, reach_of
from harness.verdicts.tallies import JudgedTotals

VERSION = 1
"""The version of the keys of a run and of a transcript; docs/outputs.md has its promises."""

_PLAYED = ("name", "scenario", "file", "wire", "stream", "target", "world", "seed")
"""The keys that say which run it is, and how it was played."""


class JsonLines:
    """One JSON object a result, as the result comes; docs/outputs.md has the keys."""

    def __init__(self) -> None:
        self._command, self._told = CommandStarted(verb=""), 0
        self._lacking: list[Result] = []
        self._files, self._reach = JudgedTotals(), NOTHING

    def __call__(self, event: Event) -> Iterator[str]:
        """Yield the object of a result, and what stands for all results at the end."""
        match event:
            case CommandStarted():
                self._command = event
            case Result():
                self._told += 1
                self._lacking += [event] if event.word == "not_applicable" else []
                if self._command.verb == "run":  # a judged file has no other use for it
                    self._reach += reach_of([event])
                if not event.is_refusal:
                    yield run_line(event) if self._command.verb != "judge" else judged_line(event)
            case FileRead():
                self._files.add(event)
            case CommandFinished():
                yield from self._last(event)

    def _last(self, event: CommandFinished) -> Iterator[str]:
        missing, left = lacks(self._lacking), max(len(self._command.planned) - self._told, 0)
        if self._files.files > 1:
            yield json_line({"summary": self._files.as_json()})
        elif missing or left or self._told > LISTED_MAX:
            yield last_line(missing, left, self._reach)
        if event.totals is not None:
            yield json_line(event.totals)
        if event.baseline:
            yield baseline_line(event.baseline)


def run_line(run: Result) -> str:
    """Return a run: its name, how it was played, its verdict with findings, and its files."""
    verdict = run.verdict
    return json_line(
        {
            "version": VERSION,
            **{name: getattr(run, name) for name in _PLAYED},
            "verdict": verdict.verdict,
            "outcome": verdict.outcome,
            "fail_on": verdict.fail_on,
            **_found(run),
            **_left_out(verdict),
            "history": run.history,
            "kept": run.kept,
            "output": run.output_file,
        }
    )


def last_line(missing: Sequence[Lack], not_played: int, reach: Reach = NOTHING) -> str:
    """Return the lacks (missing, reason, runs) behind runs that are not applicable.

    The object also has the number of runs not played, if it is not 0, and what was reached."""
    said: dict[str, Json] = {"not_applicable": [msgspec.to_builtins(lack) for lack in missing]}
    said |= {"version": VERSION, **({"reach": reach.as_json()} if reach.runs else {})}
    return json_line(said | ({"not_played": not_played} if not_played else {}))


def baseline_line(change: BaselineChange) -> str:
    """Return how a baseline differs: the number of found rows, the new findings, the gone rows."""
    new, gone = ([row._asdict() for row in rows] for rows in (change.new, change.gone))
    return json_line({"version": VERSION, "accepted": change.accepted, "new": new, "gone": gone})


def judged_line(run: Result) -> str:
    """Return a transcript: file, session, format, verdict, applied checks, findings, counts."""
    verdict = run.verdict
    return json_line(
        {
            "version": VERSION,
            "file": run.file,
            "transcript": run.label,
            "session": run.session,
            "format": run.title,
            "verdict": verdict.verdict,
            "fail_on": verdict.fail_on,
            "asked": run.asked,
            "asked_of": run.asked_of,
            **_found(run),
            "counts": run.counts,
            **_left_out(verdict),
        }
    )


def _found(run: Result) -> dict[str, Json]:
    verdict = run.verdict
    return {
        "findings": [finding(f, run.repeat) for f in verdict.findings],
        "known": [finding(f, run.repeat) for f in verdict.known],
        "doubts": verdict.doubts,
    }


def _left_out(verdict: Verdict) -> dict[str, Json]:
    return {
        "not_applicable": not_applicable(verdict),
        "not_asked": not_asked_rules(verdict),
    }


def finding(found: Finding, repeat: str) -> dict[str, Json]:
    """Return a finding as an object.

    It has the keys of `finding_fields`, and the command that repeats it.
    """
    return {**finding_fields(found), "repeat": repeat}


def finding_fields(found: Finding) -> dict[str, Json]:
    """Return code, class, check, message, events by `n`, and the code that it follows from."""
    return {
        "code": found.code,
        "class": found.class_,
        "check": found.check,
        "message": found.message,
        "events": found.events,
        "follows": found.follows,
    }


def not_applicable(verdict: Verdict) -> list[dict[str, str]]:
    """Return the checks that were not applicable or not asked, with reasons."""
    found = (n for n in verdict.not_applicable if not _is_rule(n))
    return [{"check": n.check, "reason": n.reason} for n in found]


def not_asked_rules(verdict: Verdict) -> dict[str, list[str]]:
    """Return the rules that were not asked although their check was, by reason."""
    rules = {n.check for n in verdict.not_applicable if _is_rule(n)}
    found = verdict.not_asked.items()
    said = {reason: [code for code in codes if code in rules] for reason, codes in found}
    return {reason: codes for reason, codes in said.items() if codes}


def _is_rule(lack: NotApplicable) -> bool:
    """Whether it is a rule of ours that was not asked, and not a whole check."""
    return lack.kind == "unasked" and lack.check in rules()
