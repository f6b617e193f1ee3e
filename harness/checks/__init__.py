"""The checks: invariants over a history, and all that a user needs to write one of his own.

    from harness.checks import Finding, History, needs

    @needs("outbox")
    def polite(history: History, *, word: str = "please") -> Iterator[Finding]:
        for sending in history.trace.sendings:
            if word not in sending.request.text:
                yield Finding("polite.word", f"{sending.called.key} lacks {word!r}", (sending.n,))

A check counts from the history and never asks the agent. Each family of invariants is a file here;
`evidence` holds what several of them share, `judge` applies them all. The names of this module are
public. Each is imported from its home when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.checks.check_registry import checks as checks
    from harness.checks.check_registry import explain as explain
    from harness.checks.check_registry import names as names
    from harness.checks.check_registry import parts_of as parts_of
    from harness.checks.declarations import counted_anew as counted_anew
    from harness.checks.declarations import excused_by as excused_by
    from harness.checks.declarations import needs as needs
    from harness.checks.declarations import set_aside_by_overlay as set_aside_by_overlay
    from harness.checks.evidence import excuses as excuses
    from harness.checks.evidence.excuses import Case as Case
    from harness.checks.evidence.excuses import Excuse as Excuse
    from harness.checks.judgement import judge as judge
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

_HOMES = {
    "harness.checks.check_registry": ("checks", "explain", "names", "parts_of"),
    "harness.checks.declarations": ("counted_anew", "excused_by", "needs", "set_aside_by_overlay"),
    "harness.checks.evidence": ("excuses",),
    "harness.checks.evidence.excuses": ("Case", "Excuse"),
    "harness.checks.judgement": ("judge",),
    "harness.core.history.exchanges": ("Ask", "Exchange", "Execution", "Sending"),
    "harness.core.history.history": ("History",),
    "harness.core.history.trace": ("Compaction", "Delivery", "Trace", "Turn"),
    "harness.core.transition.ports": ("CheckFunction",),
    "harness.core.values.verdict": ("Finding", "Verdict"),
}
"""The public names by the module that defines them."""

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


def __getattr__(name: str) -> object:
    """Import a public name from its home, once."""
    from importlib import import_module

    for home, public in _HOMES.items():
        if name in public:
            value = getattr(import_module(home), name, None) or import_module(f"{home}.{name}")
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
