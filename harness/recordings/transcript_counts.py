"""Counts over a transcript, for comparison between two independent readers of one recording.

A turn is a maximal run of messages of one side; results are on the user's side.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from harness.core.history import repetition
from harness.core.values.messages import Message, ToolResult, canonical, side
from harness.recordings.pairing import Pairing, pair
from harness.recordings.transcripts import Transcript


def counts(transcript: Transcript) -> dict[str, Any]:
    """All counts of a transcript, in the order in which they are documented."""
    said, found = transcript.said, pair(transcript)
    calls = [repetition.CallMade.of(call.use.name, call.use.input) for call in found.calls]
    results = [made(result.result, result.name) for result in found.results]
    empty = [call.use for call in found.calls if call.use.input in (None, {}, "")]
    required = {tool.name for tool in transcript.tools if tool.required}
    return {
        "messages": len(said) if transcript.roles else 0,
        "tool_calls": len(found.calls),
        "server_tool_calls": transcript.server_tool_calls,
        "tool_results": len(found.results),
        **_pairing(found, last=len(said) - 1, stateful=transcript.stateful),
        "alternation": alternation(said) if transcript.roles else 0,
        "same_call_runs": _rows(repetition.same_call_runs(calls)),
        "same_fail_runs": _rows(repetition.same_fail_runs(results)),
        "same_fail_runs_explicit": _rows(repetition.same_fail_runs_explicit(results)),
        "cycle2_runs": _rows(repetition.cycle2_runs(calls)),
        "same_text_runs": _same_text_runs(said),
        "empty_input_calls": len(empty),
        "empty_input_required": sum(use.name in required for use in empty),
    }


def made(result: ToolResult, name: str) -> repetition.ResultMade:
    """A result as the search for runs of equal results takes it."""
    return repetition.ResultMade(result.is_error, result.text, name)


def _pairing(found: Pairing, last: int, stateful: bool) -> dict[str, int]:
    unanswered = [call for call in found.calls if not call.answered]
    orphans = sum(result.kind == "orphan" for result in found.results)
    return {
        "orphan_results": 0 if stateful else orphans,
        "duplicate_results": sum(result.kind == "duplicate" for result in found.results),
        "unanswered_calls": sum(call.message < last for call in unanswered),
        "pending_calls": sum(call.message == last for call in unanswered),
        "late_results": sum(result.late for result in found.results),
    }


def alternation(said: Sequence[Message]) -> int:
    """Neighbours of one side, user or assistant, and 1 if the first is not the user's."""
    sides = [side(message) for message in said]
    pairs = pairwise(sides)
    equal = sum(a == b and a in ("user", "assistant") for a, b in pairs)
    return equal + (bool(sides) and sides[0] != "user")


def _same_text_runs(said: Sequence[Message]) -> list[list[Any]]:
    """Runs of assistant messages that say and call the same: text, length and start.

    The start counts the messages of the assistant alone.
    """
    spoken = [message for message in said if side(message) == "assistant"]
    found = repetition.equal_runs([_speech(message) for message in spoken])
    return [[spoken[at].text[:80], length, at] for at, length in found]


def _speech(message: Message) -> tuple[str, ...] | None:
    text = message.text
    if not text.strip():
        return None
    return text, *(f"{use.name} {canonical(use.input)}" for use in message.tool_uses)


def _rows(found: Sequence[repetition.Stretch]) -> list[list[Any]]:
    return [[run.name, run.length, run.start] for run in found]
