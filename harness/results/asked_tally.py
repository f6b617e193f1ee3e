"""The checks and rules that no run of a command asked, so that nothing was seen of them."""

from __future__ import annotations

from collections.abc import Iterable

from harness.checks.judge import checks
from harness.checks.question_table import QUESTIONS
from harness.checks.rule_classes import BOOK_KEEPING
from harness.core.values.verdict import Verdict


class AskedTally:
    """Counts over verdicts; only names stay in memory."""

    def __init__(self, verdicts: Iterable[Verdict] = ()) -> None:
        self._asked: set[str] = set()
        for verdict in verdicts:
            self.add(verdict)

    def add(self, verdict: Verdict) -> None:
        """Add the checks and the rules that a run asked."""
        found = (*verdict.findings, *verdict.known)
        names = {*verdict.passed, *(finding.check for finding in found)}
        unasked = {n.check for n in verdict.not_applicable}
        rules = (rule for rule in QUESTIONS if rule.rpartition(".")[0] in names)
        self._asked.update(names, (rule for rule in rules if rule not in unasked))
        self._asked.update(finding.code for finding in found)

    @property
    def checks(self) -> list[str]:
        """The checks of agents that no run asked."""
        return [name for name in checks() if name not in self._asked | BOOK_KEEPING]

    @property
    def rules(self) -> list[str]:
        """The rules that no run asked, of checks that were asked."""
        never = (rule for rule in QUESTIONS if rule not in self._asked)
        return [rule for rule in never if rule.rpartition(".")[0] in self._asked]

    @property
    def asks(self) -> bool:
        """Whether any run asked a check."""
        return bool(self._asked)
