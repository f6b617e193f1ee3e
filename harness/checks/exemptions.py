"""Rules that do not apply to a history although their check does, each with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.checks.declarations import (
    NO_IDS,
    RESULTS_UNREAD,
    WRITE_ORDER,
    is_half_read,
    keeps_no_ids,
)
from harness.core.history.history import History
from harness.core.scenario.scenario import Expect, ExpectCalls
from harness.core.transition.ports import CheckFunction
from harness.core.values.verdict import NotApplicable


def exempt_rules(
    history: History, wanted: Expect, chosen: Mapping[str, CheckFunction]
) -> Iterator[NotApplicable]:
    """The rules that an overlay, the agent's own store or a recording sets aside. Rules of `expect`
    count only if the scenario sets them."""
    if history.trace.own_store:
        for name, check in chosen.items():
            for rule in getattr(check, "write_order", ()):
                yield NotApplicable(f"{name}.{rule}", WRITE_ORDER)
    if keeps_no_ids(history.trace):
        for name, check in chosen.items():
            for rule in getattr(check, "by_ids", ()):
                yield NotApplicable(f"{name}.{rule}", NO_IDS)
    if is_half_read(history.trace):
        for name, check in chosen.items():
            for rule in getattr(check, "by_results", ()):
                yield NotApplicable(f"{name}.{rule}", RESULTS_UNREAD)
    if not history.trace.settings.get("overlaid"):
        return
    has = {
        "expect.outcome": wanted.outcome is not None,
        "expect.calls": wanted.calls != ExpectCalls(),
        "expect.inputs": bool(wanted.inputs),
        "expect.waits": wanted.waits_s is not None,
    }
    for code, reason in overlay_reasons(chosen).items():
        if has.get(code, True):
            yield NotApplicable(code, reason)


def overlay_reasons(known: Mapping[str, CheckFunction]) -> dict[str, str]:
    """The reason for which an overlay sets a rule aside, by code."""
    return {
        f"{name}.{rule}": reason
        for name, check in known.items()
        for rule, reason in getattr(check, "set_aside", {}).items()
    }
