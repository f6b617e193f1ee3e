"""The writes of a session store, one by one.

Each write has three moments: `before`; `inside`, when all is said and nothing counts; `after`, when
it counts and its caller does not know yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from harness.stores.session_facts import facts_of
from harness.stores.session_store import SessionStore

Moment = Literal["before", "inside", "after"]
MOMENTS: tuple[Moment, ...] = ("before", "inside", "after")

WRITES = frozenset(facts_of)
"""The methods of a session store that write."""

Tell = Callable[[str, Moment], None]
Acknowledge = Callable[[str, tuple[Any, ...], Any], None]


class WatchedStore:
    """A session store in which `tell(write, moment)` is called at each moment of each write.

    `acknowledged(write, arguments, result)` follows once the write is over. The writer gets the
    exceptions that these two raise.
    """

    def __init__(self, store: SessionStore, tell: Tell, acknowledged: Acknowledge) -> None:
        self._store, self._tell, self._acknowledged = store, tell, acknowledged

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return self._watched(name, found) if name in WRITES else found

    def _watched(self, name: str, write: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self._tell(name, "before")
            self._store.at_commit = lambda: self._tell(name, "inside")
            result = write(*arguments)
            self._tell(name, "after")
            self._acknowledged(name, arguments, result)
            return result

        return call
