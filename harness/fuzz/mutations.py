"""Damage: what happens to stored sessions in the field, each as a function of a place. Pure.

Every mutation takes a session and a place and returns another session; one that finds nothing to
damage returns the session as it is. Places are any numbers from 0, counted from the end, round and
round: so the same place stays damaged when the shrinker takes away what was said before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

from harness.core.values.messages import Json

Block: TypeAlias = dict[str, Json]


class Draft(NamedTuple):
    """A message of a scenario file in the making."""

    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...]


History: TypeAlias = list[Draft]
Mutation: TypeAlias = Callable[[History, int], History]


def drop_message(history: History, place: int) -> History:
    """A message was never stored."""
    at = _from_end(place, len(history))
    return [*history[:at], *history[at + 1 :]]


def drop_block(history: History, place: int) -> History:
    """One block of a message is missing; perhaps nothing of it is left."""
    return _on_block(history, place, lambda block: True, lambda block: ())


def two_users(history: History, place: int) -> History:
    """The user has spoken twice without an answer between."""
    return _insert(history, place, Draft("user", ({"type": "text", "text": "Hello?"},)))


def duplicate(history: History, place: int) -> History:
    """A message was stored twice in a row."""
    at = _from_end(place, len(history))
    return [*history[: at + 1], *history[at:]]


def swap(history: History, place: int) -> History:
    """Two neighbours have changed places."""
    if len(history) < 2:
        return history
    at = _from_end(place, len(history) - 1)
    return [*history[:at], history[at + 1], history[at], *history[at + 2 :]]


def blank_text(history: History, place: int) -> History:
    """A text has no word in it."""
    blank: Block = {"type": "text", "text": " \n"}
    return _on_block(history, place, lambda b: b["type"] == "text", lambda b: (blank,))


def empty_content(history: History, place: int) -> History:
    """A message has no content at all."""
    at = _from_end(place, len(history))
    return [*history[:at], *(Draft(d.role, ()) for d in history[at : at + 1]), *history[at + 1 :]]


def thinking_only(history: History, place: int) -> History:
    """The assistant thought, and the turn broke off."""
    thought: Block = {"type": "thinking", "text": "Hm.", "signature": "c2lnbmVk"}
    return _insert(history, place, Draft("assistant", (thought,)))


def orphan_result(history: History, place: int) -> History:
    """A result answers a call that is not there."""
    orphan: Block = {"type": "tool_result", "id": "gone_1", "content": "found"}
    return _insert(history, place, Draft("user", (orphan,)))


def split_pair(history: History, place: int) -> History:
    """The user's words stand between calls and their results; at the end if there are no calls."""
    calls = [n for n, d in enumerate(history) if any(b["type"] == "tool_use" for b in d.blocks)]
    between = Draft("user", ({"type": "text", "text": "Wait."},))
    at = calls[_from_end(place, len(calls))] + 1 if calls else len(history)
    return [*history[:at], between, *history[at:]]


def duplicate_id(history: History, place: int) -> History:
    """A provider gives every call the same id; the results name it too."""
    return [
        Draft(d.role, tuple({**b, "id": "same"} if "id" in b else b for b in d.blocks))
        for d in history
    ]


def change_id(history: History, place: int) -> History:
    """The id of one call or one result is another."""
    return _on_block(history, place, lambda b: "id" in b, lambda b: ({**b, "id": "other_1"},))


MUTATIONS: tuple[Mutation, ...] = (
    drop_message,
    drop_block,
    two_users,
    duplicate,
    swap,
    blank_text,
    empty_content,
    thinking_only,
    orphan_result,
    split_pair,
    duplicate_id,
    change_id,
)
"""All of them, in the order in which they strike."""


def _from_end(place: int, count: int) -> int:
    """The index of a place among so many; 0 if there are none."""
    return count - 1 - place % count if count else 0


def _insert(history: History, place: int, draft: Draft) -> History:
    at = _from_end(place, len(history) + 1)
    return [*history[:at], draft, *history[at:]]


def _on_block(
    history: History,
    place: int,
    fits: Callable[[Block], bool],
    change: Callable[[Block], tuple[Block, ...]],
) -> History:
    """Put others in the place of one of the blocks that fit."""
    found = [(n, m) for n, d in enumerate(history) for m, b in enumerate(d.blocks) if fits(b)]
    if not found:
        return history
    n, m = found[_from_end(place, len(found))]
    role, blocks = history[n]
    blocks = (*blocks[:m], *change(blocks[m]), *blocks[m + 1 :])
    return [*history[:n], Draft(role, blocks), *history[n + 1 :]]
