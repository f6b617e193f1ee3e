"""The limits of a turn, in one place and each with a name. Pure data."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from harness.agent.failures import FailureKind


class Policy(msgspec.Struct, frozen=True):
    """What a turn may cost, and what is worth another try.

    `retries` counts further requests after a failure of that kind; the SDK has already tried a
    transient one three times, and a permanent one fails again. `runs_calls_on` are the stop reasons
    after which calls are run: with any other they may be cut short, which their input cannot show.
    `max_tokens` and `max_turn_s` hold for a turn with its sub-agents, and `max_depth` and
    `max_tasks` for these.
    """

    max_model_calls: int = 50
    max_tokens: int = 5_000_000
    max_turn_s: float = 21_600.0
    max_pauses: int = 5
    max_empty_answers: int = 1
    max_attempts: int = 2
    max_depth: int = 1
    max_tasks: int = 10
    retries: Mapping[FailureKind, int] = msgspec.field(default_factory=lambda: {"broken_stream": 1})
    runs_calls_on: frozenset[str] = frozenset({"tool_use"})
