"""A cassette played strictly, as the Script of a run.

A request is answered with what was recorded for an equal one, and identical requests with their
answers in recorded order; nothing else is ever answered. Every recorded call is owed. What is
remembered here follows from the calls alone and only saves work: where in the tree each request
ended, so that the next one goes on from there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.cassettes.endpoints import wire_of
from harness.cassettes.index import Index
from harness.cassettes.key import Head, head_of_call, masked_head, name_head
from harness.cassettes.mismatch import explain
from harness.cassettes.read import calls_of
from harness.core.history.message_tree import Node
from harness.core.history.past import Past
from harness.core.transition.ports import Miss
from harness.core.values.calls import Call, ModelRequest
from harness.core.values.errors import InputError
from harness.core.values.messages import canonical
from harness.core.values.plans import Recorded


def cassette_script(path: Path, wire: str, *, timed: bool = False) -> CassettePlayer:
    """The Script of a cassette file in a run on `wire`, whose exchanges alone are owed.

    `timed`: the answers come in the pieces and after the waits that were recorded.

    Raises InputError, naming the file and the place, when it cannot be played.
    """
    spoken = indexes(path, timed=timed)
    if wire not in spoken:
        known = " and ".join(spoken)
        raise InputError(f"the cassette speaks {known}, the run {wire}: set `wire`", str(path))
    return CassettePlayer(spoken[wire])


def indexes(path: Path, *, timed: bool = False) -> dict[str, Index]:
    """The calls of a cassette file by the wire that they speak.

    Raises InputError as `load` does, and for a file without a call to a model.
    """
    spoken: dict[str, Index] = {}
    for exchange in calls_of(path, timed=timed):
        wire = wire_of(exchange.method, exchange.path)
        assert wire is not None, exchange.path
        spoken.setdefault(wire.name, Index()).add(exchange)
    if not spoken:
        raise InputError("no exchange of the cassette is a call to a model", str(path))
    return spoken


class CassettePlayer:
    """Plays the calls of a cassette; implements `harness.core.transition.ports.Script`."""

    recorded = True
    """The answers are a provider's own, refusals too: they come before the dialect's."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._places: dict[str, Node] = {}
        self._heads: dict[str, tuple[Head, str]] = {}

    def reply(self, call: Call, past: Past) -> tuple[Recorded, int] | Miss:
        """The answer to an equal request that is due, and its turn; else why there is none."""
        node = self._places[call.key] = self._place(call)
        head, name = self._head(call)
        turns = self._index.turns(node, name) or self._masked_turns(node, head)
        due = bisect_left(turns, True, key=lambda turn: not past.plays["model", turn])
        if due == len(turns):
            return Miss(explain(self._index.entries, head, node, turns, past))
        return self._index.entries[turns[due]].answer, turns[due]

    def unplayed(self, past: Past) -> Iterator[str]:
        """The recorded calls that were never played."""
        for turn, entry in enumerate(self._index.entries):
            if not past.plays["model", turn]:
                size = entry.node.depth
                yield f"exchange #{entry.number} of the cassette ({size} messages)"

    def _place(self, call: Call) -> Node:
        """Where in the tree the request ends: from where the request before it ended, if known."""
        request = call.request
        assert isinstance(request, ModelRequest), request
        before = self._places.get(request.after)
        if before is None:
            return self._index.find(call.messages)
        added = zip(request.messages, call.messages[request.keep :], strict=True)
        return self._index.walk(before.first(request.keep), added)

    def _head(self, call: Call) -> tuple[Head, str]:
        """The request's head and its digest, worked out once for all requests that share it."""
        r = call.request
        assert isinstance(r, ModelRequest), r
        same = canonical(
            [r.model, r.system, r.tools, r.tools_offered, r.max_tokens, r.stream, call.settings]
        )
        if same not in self._heads:
            head = head_of_call(call)
            self._heads[same] = head, name_head(head)
        return self._heads[same]

    def _masked_turns(self, node: Node, head: Head) -> Sequence[int]:
        """The turns of the request as a recording would hold it, without keys."""
        return self._index.turns(node, name_head(masked_head(head)))
