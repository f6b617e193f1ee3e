"""loop-harness: replay and fault-injection tests for LLM agent loops.

The names of this module are the public API, together with those of `harness.faults`,
`harness.checks`, `harness.recordings`, `harness.stores`, `harness.strategies`, `harness.contracts`
and `harness.agent`. Each is imported from its home when it is first used, so that `import harness`
costs nothing; type checkers see them all.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.checks.declarations import needs as needs
    from harness.checks.judge import judge as judge
    from harness.core.history.history import History as History
    from harness.core.history.past import Past as Past
    from harness.core.scenario.scenario import FaultSpec as FaultSpec
    from harness.core.scenario.scenario import InboxItem as InboxItem
    from harness.core.scenario.scenario import Limits as Limits
    from harness.core.scenario.scenario import Scenario as Scenario
    from harness.core.scenario.scenario import SeedMessage as SeedMessage
    from harness.core.scenario.scenario import Session as Session
    from harness.core.scenario.scenario import ToolScript as ToolScript
    from harness.core.scenario.scenario import ToolTurn as ToolTurn
    from harness.core.scenario.scenario import Turn as Turn
    from harness.core.transition.ports import Miss as Miss
    from harness.core.values.brief import Brief as Brief
    from harness.core.values.brief import Tool as Tool
    from harness.core.values.brief import ToolError as ToolError
    from harness.core.values.calls import Call as Call
    from harness.core.values.calls import Inbound as Inbound
    from harness.core.values.errors import HarnessError as HarnessError
    from harness.core.values.errors import InputError as InputError
    from harness.core.values.messages import Message as Message
    from harness.core.values.messages import Text as Text
    from harness.core.values.messages import Thinking as Thinking
    from harness.core.values.messages import ToolResult as ToolResult
    from harness.core.values.messages import ToolSpec as ToolSpec
    from harness.core.values.messages import ToolUse as ToolUse
    from harness.core.values.messages import assistant as assistant
    from harness.core.values.messages import results as results
    from harness.core.values.messages import user as user
    from harness.core.values.plans import ApiError as ApiError
    from harness.core.values.plans import Reply as Reply
    from harness.core.values.verdict import Finding as Finding
    from harness.core.values.verdict import Verdict as Verdict
    from harness.files import find_scenarios as find_scenarios
    from harness.files import load_scenarios as load_scenarios
    from harness.plugins import load_plugins as load_plugins
    from harness.report.event_lines import event_lines as event_lines
    from harness.runner.run import Run as Run
    from harness.runner.run import run as run
    from harness.targets.spec import resolve as resolve

_HOMES = {
    "ApiError": "harness.core.values.plans",
    "Brief": "harness.core.values.brief",
    "Call": "harness.core.values.calls",
    "FaultSpec": "harness.core.scenario.scenario",
    "Finding": "harness.core.values.verdict",
    "HarnessError": "harness.core.values.errors",
    "History": "harness.core.history.history",
    "Inbound": "harness.core.values.calls",
    "InboxItem": "harness.core.scenario.scenario",
    "InputError": "harness.core.values.errors",
    "Limits": "harness.core.scenario.scenario",
    "Message": "harness.core.values.messages",
    "Miss": "harness.core.transition.ports",
    "Past": "harness.core.history.past",
    "Reply": "harness.core.values.plans",
    "Run": "harness.runner.run",
    "Scenario": "harness.core.scenario.scenario",
    "SeedMessage": "harness.core.scenario.scenario",
    "Session": "harness.core.scenario.scenario",
    "Text": "harness.core.values.messages",
    "Thinking": "harness.core.values.messages",
    "Tool": "harness.core.values.brief",
    "ToolError": "harness.core.values.brief",
    "ToolResult": "harness.core.values.messages",
    "ToolScript": "harness.core.scenario.scenario",
    "ToolSpec": "harness.core.values.messages",
    "ToolTurn": "harness.core.scenario.scenario",
    "ToolUse": "harness.core.values.messages",
    "Turn": "harness.core.scenario.scenario",
    "Verdict": "harness.core.values.verdict",
    "assistant": "harness.core.values.messages",
    "event_lines": "harness.report.event_lines",
    "find_scenarios": "harness.files",
    "judge": "harness.checks.judge",
    "load_plugins": "harness.plugins",
    "load_scenarios": "harness.files",
    "needs": "harness.checks.declarations",
    "resolve": "harness.targets.spec",
    "results": "harness.core.values.messages",
    "run": "harness.runner.run",
    "user": "harness.core.values.messages",
}

__all__ = [
    "ApiError",
    "Brief",
    "Call",
    "FaultSpec",
    "Finding",
    "HarnessError",
    "History",
    "Inbound",
    "InboxItem",
    "InputError",
    "Limits",
    "Message",
    "Miss",
    "Past",
    "Reply",
    "Run",
    "Scenario",
    "SeedMessage",
    "Session",
    "Text",
    "Thinking",
    "Tool",
    "ToolError",
    "ToolResult",
    "ToolScript",
    "ToolSpec",
    "ToolTurn",
    "ToolUse",
    "Turn",
    "Verdict",
    "assistant",
    "event_lines",
    "find_scenarios",
    "judge",
    "load_plugins",
    "load_scenarios",
    "needs",
    "resolve",
    "results",
    "run",
    "user",
]


def __getattr__(name: str) -> object:
    """Import a public name from its home, once."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
