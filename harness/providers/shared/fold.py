"""A fold over a list that grows at its end: the state after each entry, one immutable value each.

A request that extends the last one costs only its new entries, and one that shares a part goes back
to the state at that part. Names (call ids, item ids) stand in one map for the whole list, not in
every state; going back takes out those of the dropped entries. So the work follows what changed,
never the length of the run.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

from harness.core.transition.ports import Violation


class FoldState(msgspec.Struct, frozen=True, gc=False):
    """What the entries so far leave open, as far as all providers need it.

    `ids` are the names that the last entry uses; `system` is the text of the entries that are the
    system's, where an API has them in the list. `size_bytes` and `violations` are cumulative.
    """

    ids: tuple[str, ...] = ()
    system: str = ""
    size_bytes: int = 0
    violations: tuple[Violation, ...] = ()


State = TypeVar("State", bound=FoldState)


class Fold(Generic[State]):
    """The states of one list by the rules that are `active`.

    `state` is the last one, `ids` gives the first place of each name.
    """

    def __init__(self, empty: State, active: frozenset[str]) -> None:
        self.active = active
        self._empty = self.state = empty
        self._states: list[State] = []
        self.ids: dict[str, int] = {}

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._states)

    def push(self, state: State) -> None:
        """Go one entry on, to this state."""
        place = len(self._states)
        self._states.append(state)
        self.state = state
        for id_ in state.ids:
            self.ids.setdefault(id_, place)

    def rewind(self, keep: int) -> None:
        """Forget all but the first `keep` entries."""
        while len(self._states) > keep:
            state = self._states.pop()
            for id_ in state.ids:
                if self.ids.get(id_) == len(self._states):
                    del self.ids[id_]
        self.state = self._states[-1] if self._states else self._empty
