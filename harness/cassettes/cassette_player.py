"""A cassette played strictly, as the Script of a run.

Identical requests get their answers in recorded order. Every recorded call is owed. The player
caches where in the tree each request ended, only for speed. A miss names the two unplayed exchanges
with the longest common prefix, and the first difference of each.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from heapq import nlargest
from itertools import groupby
from pathlib import Path

import msgspec

from harness.cassettes.cassette_file import archive_notes, calls_of, wire_of
from harness.cassettes.request_index import (
    CassetteIndex,
    IndexedCall,
    RequestHead,
    head_of_call,
    lasting_head,
    lasting_message,
    masked_head,
    name_head,
)
from harness.core.history.exchanges import Node
from harness.core.history.past import Past
from harness.core.transition.ports import Miss
from harness.core.values.calls import Call, ModelRequest
from harness.core.values.errors import InputError
from harness.core.values.messages import ABSENT, Json, canonical, first_difference, side
from harness.core.values.plans import Recorded
from harness.core.values.visible_text import abridged


def cassette_script(path: Path, wire: str, *, timed: bool = False) -> CassettePlayer:
    """The Script of a cassette file in a run on `wire`. The calls of another provider answer an
    agent that asks this one too.

    `timed`: the answers come in the pieces and after the waits that were recorded.

    Raises InputError, naming the file and the place, when it cannot be played.
    """
    index = CassetteIndex(calls_of(path, timed=timed))
    spoken = dict.fromkeys(entry.wire for entry in index.entries)
    if not spoken:
        raise _no_calls(path)
    if wire not in spoken:
        known = " and ".join(spoken)
        raise InputError(f"the cassette speaks {known}, the run {wire}: set `wire`", str(path))
    return CassettePlayer(index, owed=wire)


class NoCalls(InputError):
    """A file that can be read, and holds no call to a model."""


def indexes(path: Path) -> dict[str, CassetteIndex]:
    """The calls of a cassette file by the wire that they speak.

    Raises InputError as `load` does, and NoCalls for a file without a call to a model.
    """
    spoken: dict[str, CassetteIndex] = {}
    for exchange in calls_of(path):
        wire = wire_of(exchange.method, exchange.path)
        assert wire is not None, exchange.path
        spoken.setdefault(wire.name, CassetteIndex()).add(exchange)
    if not spoken:
        raise _no_calls(path)
    return spoken


def _no_calls(path: Path) -> NoCalls:
    what = "no exchange of the cassette is a call to a model"
    return NoCalls("; ".join([what, *archive_notes(path)]), str(path))


class CassettePlayer:
    """Plays the calls of a cassette; implements `harness.core.transition.ports.Script`.

    `repeats`: when the answers to a request have been played, the last one is played again. `owed`
    is the wire whose calls are owed from the beginning, "" for all: those of another one are owed
    once one of them was played. `turn` is the turn that was played last, and `why` the reason for
    which none was. `wires` are the providers that it has calls of.
    """

    recorded = True
    """The answers are a provider's own, refusals too: they come before the dialect's."""

    def __init__(self, index: CassetteIndex, *, repeats: bool = False, owed: str = "") -> None:
        self._index, self._repeats, self._owed = index, repeats, owed
        self.wires = {entry.wire for entry in index.entries}
        self._places: dict[str, Node] = {}
        self._heads: dict[str, tuple[RequestHead, str]] = {}
        self.turn: int | None = None
        self.why = ""

    def reply(self, call: Call, past: Past) -> tuple[Recorded, int] | Miss:
        """The due answer of an equal request, and its turn; else the reason of the miss."""
        node = self._places[call.key] = self._place(call)
        head, name = self._head(call)
        turns = self._index.turns(call.provider, node, name)
        if not turns:
            turns = self._index.turns(call.provider, node, name_head(masked_head(head)))
        due = bisect_left(turns, True, key=lambda turn: not past.plays["model", turn])
        if due == len(turns) and turns and self._repeats:
            due -= 1
        if due == len(turns):
            self.turn = None
            self.why = explain_miss(self._index.entries, head, node, turns, past)
            return Miss(f"loop-harness: {self.why}")
        self.turn, self.why = turns[due], ""
        return self._index.entries[self.turn].answer, self.turn

    def unplayed(self, past: Past) -> Iterator[str]:
        """The recorded calls that were never played, of each provider that the run has asked."""
        entries = list(enumerate(self._index.entries))
        asked = {self._owed, *(e.wire for turn, e in entries if past.plays["model", turn])}
        for turn, entry in entries:
            if not past.plays["model", turn] and (not self._owed or entry.wire in asked):
                size = entry.node.depth
                yield f"exchange #{entry.number} of the cassette ({size} messages)"

    def _place(self, call: Call) -> Node:
        """The request's end in the tree; the search starts at the previous request's end."""
        request = call.request
        assert isinstance(request, ModelRequest), request
        before = self._places.get(request.after)
        if before is None:
            return self._index.find(call.messages)
        added = zip(request.messages, call.messages[request.keep :], strict=True)
        return self._index.walk(before.first(request.keep), added)

    def _head(self, call: Call) -> tuple[RequestHead, str]:
        """The head and its digest, computed once for all requests that share it."""
        r = call.request
        assert isinstance(r, ModelRequest), r
        same = canonical(
            [r.model, r.system, r.tools, r.tools_offered, r.max_tokens, r.stream, call.settings]
        )
        if same not in self._heads:
            head = head_of_call(call)
            self._heads[same] = head, name_head(head)
        return self._heads[same]


NO_MATCH = "no recorded exchange matches this request"
_SHOWN_MAX = 60
_BEFORE = 20
"""How much of what two long texts have in common is shown before their first difference."""
_RUNS_MAX = 10


def explain_miss(
    entries: Sequence[IndexedCall], head: RequestHead, node: Node, played: Sequence[int], past: Past
) -> str:
    """Why nothing answers the request of this head and place; `played` are its equals."""
    if played:
        return f"{NO_MATCH} any more; its answers have been played: {_runs(entries, played)}"
    open_turns = [turn for turn in range(len(entries)) if not past.plays["model", turn]]
    if not open_turns:
        return f"{NO_MATCH}; all {len(entries)} have been played"
    nearest, *others = _nearest(entries, open_turns, head, node)
    said = [f"nearest is #{nearest.number}: {difference(nearest, head, node)}"]
    said += [f"then #{other.number}: {difference(other, head, node)}" for other in others]
    return "; ".join([NO_MATCH, *said, _so_far(entries, past)])


def _nearest(
    entries: Sequence[IndexedCall], turns: Sequence[int], head: RequestHead, node: Node
) -> list[IndexedCall]:
    """Ranked by common leading messages, then settings, then length."""
    shared = {at: at.depth for at in node.tail()}
    name = name_head(head)

    def closeness(turn: int) -> tuple[int, bool, int, int]:
        entry = entries[turn]
        distance = abs(entry.node.depth - node.depth)
        return _shared(entry.node, shared), entry.name == name, -distance, -turn

    return [entries[turn] for turn in nlargest(2, turns, key=closeness)]


def _so_far(entries: Sequence[IndexedCall], past: Past) -> str:
    turns = [turn for turn in range(len(entries)) if past.plays["model", turn]]
    if not turns:
        return "nothing has been played so far"
    return f"played so far: {_runs(entries, turns)} of {len(entries)}"


def _runs(entries: Sequence[IndexedCall], turns: Sequence[int]) -> str:
    """Turns by exchange number, with ranges: `#1-#3, #5`."""
    rows = [list(row) for _, row in groupby(enumerate(turns), key=lambda pair: pair[1] - pair[0])]
    ends = [(entries[row[0][1]].number, entries[row[-1][1]].number) for row in rows]
    shown = [f"#{first}" if first == last else f"#{first}-#{last}" for first, last in ends]
    return ", ".join(shown[:_RUNS_MAX]) + (", …" if len(shown) > _RUNS_MAX else "")


def _shared(node: Node | None, shared: dict[Node, int]) -> int:
    """The length of the common prefix; `shared` caches it by node, so each node is passed once."""
    passed: list[Node] = []
    while node is not None and node not in shared:
        passed.append(node)
        node = node.parent
    depth = shared[node] if node is not None else 0
    shared.update(dict.fromkeys(passed, depth))
    return depth


def difference(recorded: IndexedCall, head: RequestHead, node: Node) -> str:
    """The first place where a request differs: `PATH differs: sent A, recorded B`."""
    live, held = _messages(node), _messages(recorded.node)
    found = first_difference(live, held, "messages")
    if found is None:
        found = first_difference(_fields(head), _fields(recorded.head))
    return _told(found)


def body_difference(sent: Json, recorded: Json) -> str:
    """The first place in which a body differs from a recorded one."""
    return _told(first_difference(sent, recorded, "body"))


def _told(found: tuple[str, Json, Json] | None) -> str:
    if found is None:
        return "no difference is left in what is compared"
    path, a, b = found
    skip = _alike(a, b) if isinstance(a, str) and isinstance(b, str) else 0
    sent, recorded = _shown(a, skip), _shown(b, skip)
    return f"{path} differs: sent {sent}, recorded {recorded}"


def _alike(a: str, b: str) -> int:
    """How many characters of two texts are left out, for they would hide the first difference."""
    pairs = zip(a, b, strict=False)
    same = next((n for n, (x, y) in enumerate(pairs) if x != y), min(len(a), len(b)))
    return same - _BEFORE if same > _SHOWN_MAX // 2 else 0


def _messages(node: Node) -> list[Json]:
    return [
        {"role": m.role, "content": [msgspec.to_builtins(block) for block in m.blocks]}
        for m in (lasting_message(m) if side(m) == "system" else m for m in node.messages)
    ]


def _fields(head: RequestHead) -> dict[str, Json]:
    fields = msgspec.to_builtins(lasting_head(head))
    return {**fields.pop("settings"), **fields}


def _shown(value: Json, skip: int = 0) -> str:
    if value is ABSENT:
        return "nothing"
    dots = "…" if skip else ""
    text = repr(dots + value[skip:]) if isinstance(value, str) else canonical(value)
    return abridged(text, _SHOWN_MAX)
