"""The checks and rules that no run of a command asked, so that nothing was seen of them."""

from __future__ import annotations

from collections.abc import Iterable

from harness.checks.judge import checks, rules
from harness.core.values.verdict import BOOK_KEEPING, Verdict


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
        asked = (code for code, rule in rules().items() if rule.check in names)
        self._asked.update(names, (code for code in asked if code not in unasked))
        self._asked.update(finding.code for finding in found)

    @property
    def checks(self) -> list[str]:
        """The checks of agents that no run asked."""
        return [name for name in checks() if name not in self._asked | BOOK_KEEPING]

    @property
    def rules(self) -> list[str]:
        """The rules that no run asked, of checks that were asked."""
        return [
            code
            for code, rule in rules().items()
            if code not in self._asked and rule.check in self._asked
        ]

    @property
    def asks(self) -> bool:
        """Whether any run asked a check."""
        return bool(self._asked)
