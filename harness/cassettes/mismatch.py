"""Why no recorded exchange answers a request, in one line.

The nearest exchange is one that is still to be played, with the longest beginning in common; what
is said of it is the first place in which it differs, as a path into the request. Only a miss pays
for this.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.cassettes.index import Entry
from harness.cassettes.key import Head
from harness.core.message_tree import Node
from harness.core.messages import Json, canonical
from harness.core.past import Past

_NO_MATCH = "loop-harness: no recorded exchange matches this request"
_SHOWN_MAX = 60
_ABSENT = object()


def explain(
    entries: Sequence[Entry], head: Head, node: Node, played: Sequence[int], past: Past
) -> str:
    """Why nothing answers the request of this head and place; `played` are its equals."""
    if played:
        numbers = ", ".join(f"#{entries[turn].number}" for turn in played)
        return f"{_NO_MATCH} any more; its answers have been played: {numbers}"
    open_turns = [turn for turn in range(len(entries)) if not past.plays["model", turn]]
    if not open_turns:
        return f"{_NO_MATCH}; all {len(entries)} have been played"
    path = set(node.tail())
    nearest = entries[max(open_turns, key=lambda turn: _shared(entries[turn].node, path))]
    return f"{_NO_MATCH}; nearest is #{nearest.number}: {difference(nearest, head, node)}"


def _shared(node: Node | None, path: set[Node]) -> int:
    """How many messages a recorded request shares with the beginning of a live one."""
    while node is not None and node not in path:
        node = node.parent
    return node.depth if node is not None else 0


def difference(recorded: Entry, head: Head, node: Node) -> str:
    """The first place in which a request differs from a recorded one: `PATH differs: A ≠ B`.

    The live value stands first, the recorded one second.
    """
    live, held = _messages(node), _messages(recorded.node)
    found = _first(live, held, "messages")
    if found is None:
        found = _first(_fields(head), _fields(recorded.head), "")
    if found is None:
        return "no difference is left in what is compared"
    path, a, b = found
    return f"{path.removeprefix('.')} differs: {_shown(a)} ≠ {_shown(b)}"


def _messages(node: Node) -> list[Json]:
    return [
        {"role": m.role, "content": [msgspec.to_builtins(block) for block in m.blocks]}
        for m in node.messages
    ]


def _fields(head: Head) -> dict[str, Json]:
    """The fields of a request's body, but for its messages."""
    fields = msgspec.to_builtins(head)
    return {**fields.pop("settings"), **fields}


def _first(a: Json, b: Json, path: str) -> tuple[str, Json, Json] | None:
    """The first place in which two JSON values differ, None when they are equal."""
    if a == b:
        return None
    while True:
        below = next(((name, x, y) for name, x, y in _parts(a, b) if x is _ABSENT or x != y), None)
        if below is None:
            return path, a, b
        name, a, b = below
        path += f"[{name}]" if isinstance(name, int) else f".{name}"


def _parts(a: Json, b: Json) -> list[tuple[str | int, Json, Json]]:
    """The parts of two objects or two lists, side by side; none where there is nothing below."""
    if isinstance(a, dict) and isinstance(b, dict):
        return [(name, a.get(name, _ABSENT), b.get(name, _ABSENT)) for name in {**a, **b}]
    if isinstance(a, list) and isinstance(b, list):
        longer = range(max(len(a), len(b)))
        return [(n, _at(a, n), _at(b, n)) for n in longer]
    return []


def _at(items: list[Json], n: int) -> Json:
    return items[n] if n < len(items) else _ABSENT


def _shown(value: Json) -> str:
    if value is _ABSENT:
        return "nothing"
    text = repr(value) if isinstance(value, str) else canonical(value)
    return text if len(text) <= _SHOWN_MAX else text[: _SHOWN_MAX - 1] + "…"
