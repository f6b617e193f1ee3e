"""The checks: invariants over a history, and the names that a user needs to write a check.

    from harness.checks import Finding, History, needs

    @needs("outbox")
    def polite(history: History, *, word: str = "please") -> Iterator[Finding]:
        for sending in history.trace.sendings:
            if word not in sending.request.text:
                yield Finding("polite.word", f"{sending.called.key} lacks {word!r}", (sending.n,))

A check reads the history and never asks the agent. Each file here is a family of invariants.
`evidence` holds what several families share; `judge` applies the checks. The names that this module
imports are public.
"""

from __future__ import annotations

from harness.checks.evidence import excuses
from harness.checks.evidence.declarations import (
    counted_anew,
    excused_by,
    needs,
    set_aside_by_overlay,
)
from harness.checks.evidence.excuses import Case, Excuse
from harness.checks.judge import checks, judge, parts_of
from harness.checks.judge.check_texts import explain, names
from harness.core.history.exchanges import Ask, Exchange, Execution, Sending
from harness.core.history.history import History
from harness.core.history.trace import Compaction, Delivery, Trace, Turn
from harness.core.transition.ports import CheckFunction
from harness.core.values.verdict import Finding, Verdict

__all__ = [
    "Ask",
    "Case",
    "CheckFunction",
    "Compaction",
    "Delivery",
    "Exchange",
    "Excuse",
    "Execution",
    "Finding",
    "History",
    "Sending",
    "Trace",
    "Turn",
    "Verdict",
    "checks",
    "counted_anew",
    "excused_by",
    "excuses",
    "explain",
    "judge",
    "names",
    "needs",
    "parts_of",
    "set_aside_by_overlay",
]
