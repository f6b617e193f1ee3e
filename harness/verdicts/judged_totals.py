"""Counts over the files of `judge`: their results, their refusals, and the checks they were
asked."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from harness.core.values.messages import Json
from harness.core.values.verdict import FindingClass, VerdictWord
from harness.verdicts.cause_tally import CauseTally
from harness.verdicts.command_events import FileRead, refusal_line
from harness.verdicts.result import WORDS


class JudgedTotals:
    """The counts of the files so far; only they stay in memory."""

    def __init__(self) -> None:
        self.files = 0
        self.words: Counter[VerdictWord] = Counter()
        self.refused: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.causes = CauseTally()
        self.below: Counter[FindingClass | Literal[""]] = Counter()
        self.asked: Counter[str] = Counter()
        self.asked_of = 0

    def add(self, file: FileRead) -> None:
        """Add a file."""
        self.files += 1
        self.refused.update(map(refusal_line, file.refusals))
        self.reasons.update(refusal.reason for refusal in file.refusals)
        for result in file.results:
            self.words[result.word] += 1
            self.causes.add(file.path, result.verdict)
            self.below.update(finding.class_ for finding in result.verdict.below)
            self.asked.update(result.asked)
            self.asked_of = max(self.asked_of, result.asked_of)

    @property
    def transcripts(self) -> int:
        """The number of results."""
        return self.words.total()

    def as_json(self) -> Json:
        """Return the totals as an object, for a command that judges more than one file."""
        words: dict[str, Json] = {WORDS[word]: number for word, number in self.words.items()}
        totals = {"files": self.files, "transcripts": self.transcripts, **words}
        asked = {"asked": dict(self.asked.most_common()), "asked_of": self.asked_of}
        return {**totals, **asked, "refused": dict(self.refused)}
