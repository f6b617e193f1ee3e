"""The tool runner of the anthropic SDK, with its defaults."""

from __future__ import annotations

from harness.adapters import tool_runner

agent = tool_runner()
