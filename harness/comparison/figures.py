"""The numbers of a run: calls, prompt tokens, and its duration, virtual or real."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from harness.core.history.history import History


class Figures(msgspec.Struct, frozen=True):
    """The numbers of one or several runs.

    `answers` are the finals and errors that the user got. `prompt_tokens` is the size of all
    prompts. `virtual_s` is the time on the virtual clock, where only waits take time; `real_s` is
    the time on the machine's clock.
    """

    model_calls: int = 0
    tool_calls: int = 0
    answers: int = 0
    prompt_tokens: int = 0
    virtual_s: float = 0.0
    real_s: float = 0.0


def figures(history: History) -> Figures:
    """The numbers of one run."""
    trace = history.trace
    last_s = history.events[-1].at_ms / 1000 if len(history.events) else 0.0
    is_virtual = trace.world == "simulate"
    beside_s = trace.ended.real_wait_ms / 1000 if trace.ended else 0.0
    return Figures(
        model_calls=len(trace.exchanges),
        tool_calls=len(trace.executions),
        answers=sum(sending.ends_turn for sending in trace.sendings),
        prompt_tokens=sum(exchange.called.tokens for exchange in trace.exchanges),
        virtual_s=last_s if is_virtual else 0.0,
        real_s=beside_s if is_virtual else last_s,
    )


def total(found: Iterable[Figures]) -> Figures:
    """The sum of the numbers of several runs."""
    rows = [msgspec.structs.astuple(one) for one in found]
    return Figures(*map(sum, zip(*rows, strict=True))) if rows else Figures()
