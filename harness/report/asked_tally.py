"""The checks and rules that no run of a command asked, so that nothing was seen of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.checks.judge import checks, rules
from harness.checks.judge.questions import asked_by
from harness.core.values.verdict import BOOK_KEEPING, Verdict
from harness.results.event_lines import counted


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

    def lines(self, verbose: bool = False) -> Iterator[str]:
        """Yield how many were never asked; with `verbose` their names, by the event they need."""
        if not self._asked or not (self.checks or self.rules):
            return
        number, unasked = counted(len(self.checks), "check"), len(self.rules)
        others = f" and {counted(unasked, 'rule')} of other checks" if unasked else ""
        more = "" if verbose else " (-v names them)"
        yield f"never asked in this command: {number}{others}{more}"
        if not verbose:
            return
        if self.checks:
            yield f"  checks: {', '.join(self.checks)}"
        by_event: dict[str, list[str]] = {}
        for code in self.rules:
            by_event.setdefault(asked_by(rules()[code]), []).append(code)
        for event, named in by_event.items():
            yield f"  rules that need {event}: {', '.join(named)}"
