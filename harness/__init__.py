"""loop-harness: replay and fault-injection tests for LLM agent loops.

The names of this module are the public API. Each is imported from its home when it is first used,
so that `import harness` costs nothing; type checkers see them all.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.checks.judge import judge as judge
    from harness.core.brief import Brief as Brief
    from harness.core.brief import Tool as Tool
    from harness.core.brief import ToolError as ToolError
    from harness.core.calls import Inbound as Inbound
    from harness.core.errors import HarnessError as HarnessError
    from harness.core.errors import InputError as InputError
    from harness.core.history import History as History
    from harness.core.messages import Message as Message
    from harness.core.messages import Text as Text
    from harness.core.messages import Thinking as Thinking
    from harness.core.messages import ToolResult as ToolResult
    from harness.core.messages import ToolUse as ToolUse
    from harness.core.ports import needs as needs
    from harness.core.scenario import Scenario as Scenario
    from harness.core.verdict import Finding as Finding
    from harness.core.verdict import Verdict as Verdict
    from harness.load import find_scenarios as find_scenarios
    from harness.load import load_scenarios as load_scenarios
    from harness.runner.run import Run as Run
    from harness.runner.run import run as run

_HOMES = {
    "Brief": "harness.core.brief",
    "Finding": "harness.core.verdict",
    "HarnessError": "harness.core.errors",
    "History": "harness.core.history",
    "Inbound": "harness.core.calls",
    "InputError": "harness.core.errors",
    "Message": "harness.core.messages",
    "Run": "harness.runner",
    "Scenario": "harness.core.scenario",
    "Text": "harness.core.messages",
    "Thinking": "harness.core.messages",
    "Tool": "harness.core.brief",
    "ToolError": "harness.core.brief",
    "ToolResult": "harness.core.messages",
    "ToolUse": "harness.core.messages",
    "Verdict": "harness.core.verdict",
    "find_scenarios": "harness.load",
    "judge": "harness.checks.judge",
    "load_scenarios": "harness.load",
    "needs": "harness.core.ports",
    "run": "harness.runner",
}

__all__ = [
    "Brief",
    "Finding",
    "HarnessError",
    "History",
    "Inbound",
    "InputError",
    "Message",
    "Run",
    "Scenario",
    "Text",
    "Thinking",
    "Tool",
    "ToolError",
    "ToolResult",
    "ToolUse",
    "Verdict",
    "find_scenarios",
    "judge",
    "load_scenarios",
    "needs",
    "run",
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
