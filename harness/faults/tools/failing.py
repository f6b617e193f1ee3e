"""The tool fails, and says so by the flag, in its text alone, or not at all."""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Answer, Plan, Raise, ToolAnswer

STAGE = "value"

SEAMS = ("tool",)

CODES = {
    "fails": ("X7", "X8", "X18"),
    "fails_in_text": ("X7",),
    "error_page": ("X7",),
    "server_down": ("X15",),
}

_PAGE = "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1><p>nginx</p></body></html>"


def fails(moment: Moment, plan: Plan, *, message: str = "temporarily unavailable") -> Plan:
    """The tool reports an error, and has done nothing; flaky with `often`."""
    return (Answer(ToolAnswer(message, is_error=True)),)


def fails_in_text(moment: Moment, plan: Plan, *, message: str = "no such file") -> Plan:
    """The tool says "Error: …" in its text and sets no flag; it has done nothing."""
    return (Answer(ToolAnswer(f"Error: {message}")),)


def error_page(moment: Moment, plan: Plan) -> Plan:
    """The tool ends with exit code 0 and returns the error page of a proxy."""
    return (Answer(ToolAnswer(_PAGE)),)


def server_down(moment: Moment, plan: Plan) -> Plan:
    """The tool's server is gone: the connection is refused; with `often`, until it is back."""
    return (Raise("connect", "the tool server refused the connection"),)
