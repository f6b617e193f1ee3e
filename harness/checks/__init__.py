"""The checks: invariants over a history, and the names that a user needs to write a check.

    from harness.checks import Finding, History, needs

    @needs("outbox")
    def polite(history: History, *, word: str = "please") -> Iterator[Finding]:
        for sending in history.trace.sendings:
            if word not in sending.request.text:
                yield Finding("polite.word", f"{sending.called.key} lacks {word!r}", (sending.n,))

A check reads the history and never asks the agent. Each file here is a family of invariants.
`evidence` holds what several families share; `judge` applies the checks. The names that this module
lists are public.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.checks.evidence import excuses as excuses
    from harness.checks.evidence.declarations import counted_anew as counted_anew
    from harness.checks.evidence.declarations import excused_by as excused_by
    from harness.checks.evidence.declarations import needs as needs
    from harness.checks.evidence.declarations import set_aside_by_overlay as set_aside_by_overlay
    from harness.checks.evidence.excuses import Case as Case
    from harness.checks.evidence.excuses import Excuse as Excuse
    from harness.checks.judge import checks as checks
    from harness.checks.judge import judge as judge
    from harness.checks.judge import parts_of as parts_of
    from harness.checks.judge.check_texts import explain as explain
    from harness.checks.judge.check_texts import names as names
    from harness.core.history.exchanges import Ask as Ask
    from harness.core.history.exchanges import Exchange as Exchange
    from harness.core.history.exchanges import Execution as Execution
    from harness.core.history.exchanges import Sending as Sending
    from harness.core.history.history import History as History
    from harness.core.history.trace import Compaction as Compaction
    from harness.core.history.trace import Delivery as Delivery
    from harness.core.history.trace import Trace as Trace
    from harness.core.history.trace import Turn as Turn
    from harness.core.transition.ports import CheckFunction as CheckFunction
    from harness.core.values.verdict import Finding as Finding
    from harness.core.values.verdict import Verdict as Verdict
else:
    # A module of this name is set on the package when it is imported, and would hide the function.
    from harness.checks.judge import judge as judge
    from harness.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(__name__)
