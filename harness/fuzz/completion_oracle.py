"""The completion oracle: in a benign scenario every agent answers each message.

The checks cannot see an agent that gives up too early. A benign scenario excuses no failure: it has
a whole session, a plain model, working tools, and at most one fault that passes by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from harness.core.scenario.scenario import (
    Expect,
    FaultSpec,
    Scenario,
    SeedMessage,
    ToolScript,
    Turn,
)
from harness.core.values.messages import Json, canonical
from harness.shrink.scenario_size import turns_of
from harness.shrink.script_reductions import blocks_of, is_whole

COMPLETED = Expect(outcome="completed")

PASSING = frozenset(
    {
        *("http.overloaded", "http.server_error", "http.rate_limited_without_retry_after"),
        *("persistence.locked", "persistence.lock_released_in_time", "persistence.disk_full"),
        *("persistence.io_error", "persistence.snapshot_conflict"),
    }
)
"""Faults that pass after they fired once: one retry is enough."""

TOO_LONG = frozenset(
    {
        *("context.prompt_too_long", "context.reply_does_not_fit", "context.request_too_large"),
        *("context.too_long_in_the_stream", "http.prompt_too_long", "http.too_large"),
        "http.too_large_page",
    }
)
"""Refusals of a conversation that is too long, in all forms; a shorter one is answered."""

LONG_ENOUGH = 6
"""The least messages of a stored session from which an agent can leave some out."""

FIRST = (1, 2, 3)
"""The most calls of most scenarios."""

CALLS = 2
"""How often an agent may repeat a call, or fail it, before it looks like a loop."""


def expected_of(scenario: Scenario) -> Expect:
    """Return a scenario's expectation: an answer to each message if it is benign, else nothing."""
    return COMPLETED if is_benign(scenario) else Expect()


def once(faults: Sequence[FaultSpec]) -> tuple[FaultSpec, ...]:
    """Return the last of the faults, set to fire once on one of the first calls."""
    return tuple(
        msgspec.structs.replace(
            fault, often="once", then="ok", when=fault.when if fault.when in FIRST else FIRST[0]
        )
        for fault in faults[-1:]
    )


def is_benign(scenario: Scenario) -> bool:
    """Whether a scenario gives an agent no reason to fail."""
    turns = [turn for turn in turns_of(scenario) if turn.purpose == "main"]
    return (
        scenario.window_tokens is None
        and _are_over_soon(scenario)
        and all(item.kind == "message" and item.text.strip() for item in scenario.inbox)
        and _is_sound(scenario.session.messages)
        and all(_is_plain(turn, scenario.tools) for turn in turns)
        and bool(turns)
        and turns[-1].say is not None
        and _goes_on(turns, scenario.tools)
    )


def _are_over_soon(scenario: Scenario) -> bool:
    """Whether there is no fault, or one that passes.

    If a fault needs a shorter conversation, the only one must be a long stored session.
    """
    if len(scenario.faults) > 1:
        return False
    is_long = len(scenario.session.messages) >= LONG_ENOUGH
    is_long &= all(item.session == "main" for item in scenario.inbox)
    return all(
        (f.kind in PASSING or (f.kind in TOO_LONG and is_long))
        and (f.often, f.then) == ("once", "ok")
        and isinstance(f.when, int)
        and f.on != "compact"
        for f in scenario.faults
    )


def _is_sound(stored: Sequence[SeedMessage]) -> bool:
    """Whether a session alternates, with a result for each call and a word in each message."""
    ids = [str(b.get("id")) for m in stored for b in blocks_of(m) if b.get("type") == "tool_use"]
    said = all(any(map(_says, blocks_of(message))) for message in stored)
    return is_whole(stored) and said and len(set(ids)) == len(ids)


def _says(block: dict[str, Json]) -> bool:
    kind = block.get("type")
    return kind in ("tool_use", "tool_result") or bool(kind == "text" and _text(block).strip())


def _text(block: dict[str, Json]) -> str:
    """The text of a block; "" of one that has lost it to shrinking."""
    return str(block.get("text", ""))


def _is_plain(turn: Turn, tools: Mapping[str, ToolScript]) -> bool:
    """Whether a turn has only text and whole calls and ends normally; one with calls plays once."""
    blocks, calls = turn.blocks, calls_of(turn)
    texts = [_text(block) for block in blocks if block.get("type") == "text"]
    texts += [turn.say] if turn.say is not None else []
    return (
        turn.stop is None
        and not turn.usage
        and bool(calls or texts)
        and (turn.times == 1 or not calls)
        and all(text.strip() for text in texts)
        and all(b.get("type") in ("text", "thinking", "tool_use") for b in blocks)
        and not any(b.get("id") for b in blocks)
        and all(_is_whole_call(name, given, tools) for name, given in calls)
    )


def calls_of(turn: Turn) -> list[tuple[str, Json]]:
    """Return the calls of a turn: tool and input, None of a block that has lost it to shrinking."""
    short = [(turn.use, {} if turn.input is msgspec.UNSET else turn.input)] if turn.use else []
    blocks = (b for b in turn.blocks if b.get("type") == "tool_use")
    return [*short, *((str(b.get("name", "")), b.get("input")) for b in blocks)]


def _is_whole_call(name: str, given: Json, tools: Mapping[str, ToolScript]) -> bool:
    """Whether the tool exists, and gets all required keys."""
    tool = tools.get(name)
    if tool is None or not isinstance(given, dict):
        return False
    return set(tool.input_schema.get("required", ())) <= set(given)


def _goes_on(turns: Sequence[Turn], tools: Mapping[str, ToolScript]) -> bool:
    """Whether no call is made, or fails, so often that it looks like a loop."""
    calls = Counter(canonical([*call]) for turn in turns for call in calls_of(turn))
    can_fail = any(
        outcome.error is not None or outcome.raises is not None
        for tool in tools.values()
        for outcome in tool.script
    )
    return max(calls.values(), default=0) <= CALLS and (not can_fail or calls.total() <= CALLS)
