"""The stored session: what is seen to change in it."""

from __future__ import annotations

from collections.abc import Sequence

from harness.core.history.events import Stored, StoredRow
from harness.core.history.history import History
from harness.core.values.messages import Message, assistant, digest, user
from harness.runner.store_watch import StoreWatch


class _Rows:
    """A store whose rows a test sets."""

    name = "rows"

    def __init__(self) -> None:
        self.rows: list[tuple[str, Message]] = []

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """The rows as they are."""
        return [(StoredRow(name, digest(m)), m) for name, m in self.rows]


def _stored(history: History) -> list[Stored]:
    return [e for e in history.events if isinstance(e, Stored)]


def test_an_event_holds_what_is_new_changed_or_gone() -> None:
    store, history = _Rows(), History()
    watch = StoreWatch(store, history)
    store.rows = [("1", user("a")), ("2", assistant("b"))]
    watch.look(10)
    store.rows = [("1", user("a")), ("2", assistant("b, and more")), ("3", user("c"))]
    watch.look(20)
    store.rows = [("2", assistant("b, and more")), ("3", user("c"))]
    watch.look(30)
    first, second, third = _stored(history)
    assert [row.id for row in first.added] == ["1", "2"]
    assert ([r.id for r in second.added], [r.id for r in second.changed]) == (["3"], ["2"])
    assert (third.gone, third.added, third.at_ms) == (("1",), (), 30)


def test_the_first_look_is_recorded_and_an_unchanged_store_is_not() -> None:
    store, history = _Rows(), History()
    watch = StoreWatch(store, history)
    watch.look(0)
    watch.look(1)
    assert [e.added for e in _stored(history)] == [()]
