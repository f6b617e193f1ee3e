"""What the steps of a session machine do to an agent, as tables: simple rows first."""

from __future__ import annotations

from collections.abc import Sequence

from harness.core.scenario.scenario import Turn
from harness.core.values.messages import Message, Text, Thinking, ToolResult, ToolUse, results, user
from harness.core.values.plans import ApiError
from harness.fuzz.scripts import TURNS

WINDOWS = (None, 2_000, 400)
FAILURES: tuple[ApiError, ...] = (
    ApiError(529, "overloaded_error", "Overloaded"),
    ApiError(500, "api_error", "Internal server error"),
    ApiError(429, "rate_limit_error", "This request would exceed your rate limit"),
    ApiError(400, "invalid_request_error", "Your credit balance is too low"),
)
TOO_LONG = ApiError(
    400, "invalid_request_error", "prompt is too long: 208380 tokens > 200000 maximum"
)

DAMAGE: tuple[tuple[Message, ...], ...] = (
    (user("Hello?"),),
    (Message("assistant", (ToolUse("open_1", "ping", {}),)),),
    (results(ToolResult("gone_1", "found")),),
    (Message("assistant"),),
    (Message("assistant", (Text(" \n"),)),),
    (Message("assistant", (Thinking("Hm.", "c2lnbmVk"),)),),
    (user("Hello?"), user("Hello?")),
)
"""What an older version, or a crash of one, has left at the end of a stored session."""

JUDGED = frozenset(
    {
        *("valid_request", "role_alternation", "tool_pairing", "unique_tool_ids"),
        *("nonblank_content", "append_only_prefix", "history_faithful", "request_fits"),
        *("reload_equivalence", "durable_first", "no_silent_loss", "inbound_exactly_once"),
        *("effect_once", "args_complete", "error_visible", "cancel_honoured", "bounded_turn"),
        *("compaction_preserves", "compaction_progress"),
    }
)
"""The checks that judge a whole life: of requests, of what was run, of what was kept, and of what a
compaction saved. What was tried again is left to scenarios, which say why a provider failed."""


def turns_of(numbers: Sequence[int]) -> tuple[Turn, ...]:
    """The turns of numbers, each a kind of turn and its words."""
    return tuple(TURNS[n % len(TURNS)](n // len(TURNS)) for n in numbers)
