"""Why no recorded exchange answers a request, in one line.

The nearest exchanges are two that are still to be played, with the longest beginning in common;
what is said of each is the first place in which it differs, as a path into the request, and both
values. Only a miss pays for this.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest
from itertools import groupby

import msgspec

from harness.cassettes.index import Entry
from harness.cassettes.key import Head, lasting_head, lasting_message, name_head
from harness.core.history.message_tree import Node
from harness.core.history.past import Past
from harness.core.values.messages import Json, canonical, side

_NO_MATCH = "loop-harness: no recorded exchange matches this request"
_SHOWN_MAX = 60
_RUNS_MAX = 10
_ABSENT = object()


def explain(
    entries: Sequence[Entry], head: Head, node: Node, played: Sequence[int], past: Past
) -> str:
    """Why nothing answers the request of this head and place; `played` are its equals."""
    if played:
        return f"{_NO_MATCH} any more; its answers have been played: {_runs(entries, played)}"
    open_turns = [turn for turn in range(len(entries)) if not past.plays["model", turn]]
    if not open_turns:
        return f"{_NO_MATCH}; all {len(entries)} have been played"
    nearest, *others = _nearest(entries, open_turns, head, node)
    said = [f"nearest is #{nearest.number}: {difference(nearest, head, node)}"]
    said += [f"then #{other.number}: {difference(other, head, node)}" for other in others]
    return "; ".join([_NO_MATCH, *said, _so_far(entries, past)])


def _nearest(entries: Sequence[Entry], turns: Sequence[int], head: Head, node: Node) -> list[Entry]:
    """The two that share most with a request: messages from the first on, settings, length."""
    shared = {at: at.depth for at in node.tail()}
    name = name_head(head)

    def closeness(turn: int) -> tuple[int, bool, int, int]:
        entry = entries[turn]
        distance = abs(entry.node.depth - node.depth)
        return _shared(entry.node, shared), entry.name == name, -distance, -turn

    return [entries[turn] for turn in nlargest(2, turns, key=closeness)]


def _so_far(entries: Sequence[Entry], past: Past) -> str:
    turns = [turn for turn in range(len(entries)) if past.plays["model", turn]]
    if not turns:
        return "nothing has been played so far"
    return f"played so far: {_runs(entries, turns)} of {len(entries)}"


def _runs(entries: Sequence[Entry], turns: Sequence[int]) -> str:
    """Turns by the numbers of their exchanges, those in a row as one: `#1-#3, #5`."""
    rows = [list(row) for _, row in groupby(enumerate(turns), key=lambda pair: pair[1] - pair[0])]
    ends = [(entries[row[0][1]].number, entries[row[-1][1]].number) for row in rows]
    shown = [f"#{first}" if first == last else f"#{first}-#{last}" for first, last in ends]
    return ", ".join(shown[:_RUNS_MAX]) + (", …" if len(shown) > _RUNS_MAX else "")


def _shared(node: Node | None, shared: dict[Node, int]) -> int:
    """How many messages a recorded request shares with the beginning of a live one.

    `shared` knows it of the nodes that were passed before, so each is passed once.
    """
    passed: list[Node] = []
    while node is not None and node not in shared:
        passed.append(node)
        node = node.parent
    depth = shared[node] if node is not None else 0
    shared.update(dict.fromkeys(passed, depth))
    return depth


def difference(recorded: Entry, head: Head, node: Node) -> str:
    """The first place where a request differs: `PATH differs: sent A, recorded B`."""
    live, held = _messages(node), _messages(recorded.node)
    found = _first(live, held, "messages")
    if found is None:
        found = _first(_fields(head), _fields(recorded.head), "")
    if found is None:
        return "no difference is left in what is compared"
    path, a, b = found
    return f"{path.removeprefix('.')} differs: sent {_shown(a)}, recorded {_shown(b)}"


def _messages(node: Node) -> list[Json]:
    return [
        {"role": m.role, "content": [msgspec.to_builtins(block) for block in m.blocks]}
        for m in (lasting_message(m) if side(m) == "system" else m for m in node.messages)
    ]


def _fields(head: Head) -> dict[str, Json]:
    """The fields of a request's body, but for its messages."""
    fields = msgspec.to_builtins(lasting_head(head))
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
