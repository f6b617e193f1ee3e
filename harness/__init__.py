"""loop-harness: replay and fault-injection tests for LLM agent loops.

The names of this module are the public API. Each is imported from its home when it is first used,
so that `import harness` costs nothing; type checkers see them all.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.checks.declarations import needs as needs
    from harness.checks.judgement import judge as judge
    from harness.core.history.history import History as History
    from harness.core.scenario.scenario import Scenario as Scenario
    from harness.core.values.brief import Brief as Brief
    from harness.core.values.brief import Tool as Tool
    from harness.core.values.brief import ToolError as ToolError
    from harness.core.values.calls import Inbound as Inbound
    from harness.core.values.errors import HarnessError as HarnessError
    from harness.core.values.errors import InputError as InputError
    from harness.core.values.messages import Message as Message
    from harness.core.values.messages import Text as Text
    from harness.core.values.messages import Thinking as Thinking
    from harness.core.values.messages import ToolResult as ToolResult
    from harness.core.values.messages import ToolSpec as ToolSpec
    from harness.core.values.messages import ToolUse as ToolUse
    from harness.core.values.verdict import Finding as Finding
    from harness.core.values.verdict import Verdict as Verdict
    from harness.files import find_scenarios as find_scenarios
    from harness.files import load_scenarios as load_scenarios
    from harness.runner.run import Run as Run
    from harness.runner.run import run as run

_HOMES = {
    "Brief": "harness.core.values.brief",
    "Finding": "harness.core.values.verdict",
    "HarnessError": "harness.core.values.errors",
    "History": "harness.core.history.history",
    "Inbound": "harness.core.values.calls",
    "InputError": "harness.core.values.errors",
    "Message": "harness.core.values.messages",
    "Run": "harness.runner",
    "Scenario": "harness.core.scenario.scenario",
    "Text": "harness.core.values.messages",
    "Thinking": "harness.core.values.messages",
    "Tool": "harness.core.values.brief",
    "ToolError": "harness.core.values.brief",
    "ToolResult": "harness.core.values.messages",
    "ToolSpec": "harness.core.values.messages",
    "ToolUse": "harness.core.values.messages",
    "Verdict": "harness.core.values.verdict",
    "find_scenarios": "harness.files",
    "judge": "harness.checks",
    "load_scenarios": "harness.files",
    "needs": "harness.checks",
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
    "ToolSpec",
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
