"""Reductions of the stored session. A call is removed with its results, a result with its call.

A valid session is only cut to another valid one: an invalid session would cause other findings. A
damaged session may be cut anywhere, because its damage causes the finding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from harness.core.scenario.scenario import Scenario, SeedMessage
from harness.core.values.messages import Json
from harness.shrink.delta_debugging import Candidates, fewer

Block = dict[str, Json]


def messages(scenario: Scenario) -> Candidates[Scenario]:
    """Remove messages. If one half of a call and its result is removed, so is the other half."""
    stored = scenario.session.messages
    return fewer(stored, lambda left: with_messages(scenario, _mended(stored, left)))


def calls(scenario: Scenario) -> Candidates[Scenario]:
    """Remove calls and their results, in any messages."""
    stored = scenario.session.messages
    ids = sorted(_ids(stored, "tool_use") | _ids(stored, "tool_result"))

    def only(left: list[str]) -> Scenario:
        gone = {*ids} - {*left}
        return with_messages(scenario, _filtered(stored, lambda b: str(b.get("id")) not in gone))

    return fewer(ids, only)


def is_whole(stored: Sequence[SeedMessage]) -> bool:
    """Whether a session alternates from the user to the assistant, with a result to each call."""
    asked: list[Json] = []
    for n, message in enumerate(stored):
        answers = [b.get("id") for b in blocks_of(message) if b.get("type") == "tool_result"]
        if message.role != ("user", "assistant")[n % 2] or sorted(map(str, answers)) != asked:
            return False
        asked = sorted(str(b.get("id")) for b in blocks_of(message) if b.get("type") == "tool_use")
    return len(stored) % 2 == 0 and not asked


def with_messages(scenario: Scenario, stored: Sequence[SeedMessage]) -> Scenario:
    """The scenario with another stored session."""
    session = msgspec.structs.replace(scenario.session, messages=tuple(stored))
    return msgspec.structs.replace(scenario, session=session)


def _mended(before: Sequence[SeedMessage], left: Sequence[SeedMessage]) -> list[SeedMessage]:
    """What is left, without the halves of pairs whose other half is gone."""
    pairs = _ids(before, "tool_use") & _ids(before, "tool_result")
    torn = pairs - (_ids(left, "tool_use") & _ids(left, "tool_result"))
    return _filtered(left, lambda b: str(b.get("id")) not in torn) if torn else list(left)


def _filtered(stored: Sequence[SeedMessage], stays: Callable[[Block], bool]) -> list[SeedMessage]:
    """The messages with the blocks that stay; one that loses all of its blocks goes."""
    left = []
    for message in stored:
        blocks = tuple(block for block in blocks_of(message) if stays(block))
        if len(blocks) == len(blocks_of(message)):
            left.append(message)
        elif blocks:
            left.append(msgspec.structs.replace(message, content=blocks))
    return left


def blocks_of(message: SeedMessage) -> Sequence[Block]:
    """The blocks of a stored message; none of one that is a text."""
    return () if isinstance(message.content, str) else message.content


def _ids(stored: Sequence[SeedMessage], kind: str) -> set[str]:
    blocks = (block for message in stored for block in blocks_of(message))
    return {str(b.get("id")) for b in blocks if b.get("type") == kind and b.get("id")}
