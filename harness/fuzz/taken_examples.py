"""Reads the failing examples of other campaigns from a place, such as the artifact of a CI run.

Only two kinds of files are read: the journals of campaigns, and the scenarios of runs whose finding
was not shrunk. A journal is JSON, decoded strictly. What it says of its target, of its profile and
of plug-ins is left alone: a name in a file from outside runs no code.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from harness.core.values.errors import InputError
from harness.fuzz.artifact import Artifact, opened_place
from harness.fuzz.batch import BatchResult
from harness.fuzz.campaign_journal import FILE, CampaignRecord, record_of
from harness.fuzz.example import scenario_file
from harness.fuzz.findings import Findings, ShrunkFinding
from harness.fuzz.replay import Replayed, TakenExample

EXAMPLES_MOST = 500
"""The most examples of a place. The rest is told: each costs a run or more."""

_HYPOTHESIS = (
    "no campaign here: no file campaign.jsonl. A database of Hypothesis is read by the settings of "
    "the test: docs/fuzzing.md#failing-examples-of-ci"
)


def examples_of(place: str) -> tuple[TakenExample, ...]:
    """Return the failing examples of a place, each finding once: shrunk ones first.

    Raises InputError for a place without a campaign, and for a journal that cannot be read.
    """
    artifact = opened_place(place)
    names = artifact.names()
    journals = [name for name in names if PurePosixPath(name).name == FILE]
    if not journals:
        raise InputError(_HYPOTHESIS, place)
    first: dict[object, TakenExample] = {}
    for journal in journals:
        for taken in _examples_in(artifact, journal, frozenset(names)):
            first.setdefault(taken.finding.group, taken)
    return tuple(sorted(first.values(), key=lambda taken: not taken.is_shrunk))


def _examples_in(artifact: Artifact, journal: str, names: frozenset[str]) -> Iterator[TakenExample]:
    """Yield the examples of one campaign: what was shrunk, then what still waits for it."""
    told = _told(record_of(artifact.read(journal), Path(journal)))
    for kept in told.kept.values():
        yield TakenExample(kept.name, kept.text, kept.finding, is_shrunk=True)
    shrunk = {kept.code for kept in told.kept.values()}
    for found in told.waiting:
        file = scenario_file(Path(journal).parent, found.example).as_posix()
        if file in names and found.code not in shrunk:
            yield TakenExample(PurePosixPath(file).stem, _text(artifact, file), found.finding)


def _told(record: CampaignRecord) -> Findings:
    """Return the findings of a campaign, also those that it had taken up itself."""
    told = Findings()
    for line in record.lines:
        if isinstance(line, BatchResult):
            for found in line.found:
                told.found(found)
        shown = line.shown if isinstance(line, Replayed) else line
        if isinstance(shown, ShrunkFinding):
            told.reduced(shown)
    return told


def _text(artifact: Artifact, file: str) -> str:
    try:
        return artifact.read(file).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {error.start}", file) from None
