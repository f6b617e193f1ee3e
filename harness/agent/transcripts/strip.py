"""What of a transcript is not kept: the program's own entries, and thinking that has gone stale.

Whatever stays is kept byte for byte, for nobody knows what else reads it; only a link that would
lead to an entry that is gone is set anew. Thinking is signed for the conversation it stood in. When
that goes on in another one (restored, resumed elsewhere) the last answer keeps it, all of its
entries, and older ones lose it; from turn to turn nothing is taken out, for every request must
begin like the one before. Pure.
"""

from __future__ import annotations

from harness.agent.transcripts.entries import Entry, entries, entry, value_of

_THINKING = ("thinking", "redacted_thinking")


def strip(data: bytes) -> bytes:
    """The file without the entries that are nobody's words, their children linked to what is left.

    Summaries that carry the flag of a compaction stay. Lines that cannot be read stay too.
    """
    gone = {e.uuid: e.parent for e in entries(data) if e.is_strippable and e.uuid}
    kept = (_relinked(line, gone) for line in data.split(b"\n"))
    return b"\n".join(line for line in kept if line is not None)


def _relinked(line: bytes, gone: dict[str, str]) -> bytes | None:
    value = value_of(line)
    if value is None:
        return line
    found = Entry(line, value)
    if found.is_strippable:
        return None
    parent = _kept(found.parent, gone)
    return line if parent == found.parent else entry({**value, "parentUuid": parent}).line


def _kept(uuid: str, gone: dict[str, str]) -> str:
    """The first ancestor that is kept; none for a circle, which has no first."""
    passed: set[str] = set()
    while uuid in gone and uuid not in passed:
        passed.add(uuid)
        uuid = gone[uuid]
    return "" if uuid in passed else uuid


def without_stale_thinking(data: bytes) -> bytes:
    """The file with thinking in the last answer only: the entries that share its `message.id`, or,
    without ids, the last entry of the assistant."""
    answers = [e for e in entries(data) if e.is_assistant]
    if not answers:
        return data
    last, id = answers[-1], answers[-1].message_id
    fresh = {e.line for e in answers if e.message_id == id} if id else {last.line}
    return b"\n".join(line if line in fresh else _unthinking(line) for line in data.split(b"\n"))


def _unthinking(line: bytes) -> bytes:
    value = value_of(line) or {}
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if value.get("type") != "assistant" or not isinstance(content, list):
        return line
    kept = [b for b in content if not (isinstance(b, dict) and b.get("type") in _THINKING)]
    if len(kept) == len(content):
        return line
    return entry({**value, "message": {**value["message"], "content": kept}}).line
