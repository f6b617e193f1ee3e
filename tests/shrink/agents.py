"""Agents whose mistake follows from a word, a call or a fault."""

from __future__ import annotations

from typing import Any

from harness.agent import agent as reference
from harness.agent import build
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief


def crashes_on_oslo(brief: Brief) -> None:
    """Crashes when a message names Oslo, and in another way when one names Bergen."""
    for inbound in brief.inbox():
        if "Oslo" in inbound.text:
            raise ValueError(f"no such town: {inbound.text}")
        if "Bergen" in inbound.text:
            raise KeyError(inbound.text)
        brief.send("Fine.")


def has_no_guards(brief: Brief) -> None:
    """Lets the model repeat itself as often as it likes."""
    build(brief, guards=lambda tools: (), policy=Policy(max_model_calls=1000)).run()


def right(brief: Brief) -> Any:
    """The reference agent."""
    return reference(brief)
