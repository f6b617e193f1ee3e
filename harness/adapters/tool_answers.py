"""How a tool's failure reaches a framework that knows only one kind of error."""

from __future__ import annotations

from typing import Any

from harness.core.values.brief import ToolError


def answer_of(tool: Any, given: Any, id: str = "") -> Any:
    """What the tool says; raises ToolError for each failure, a lost connection too."""
    try:
        return tool.call(given, id=id)
    except (ToolError, RuntimeError, TimeoutError, ConnectionError) as error:
        raise ToolError(str(error)) from error
