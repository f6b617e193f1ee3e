"""What the disk did to a store is told from what the agent stored, and which turns there were."""

from __future__ import annotations

from typing import Any

import pytest

from harness.core.history.events import StoredRow
from harness.core.history.history import History
from harness.core.history.trace_fold import offered_schemas
from harness.core.values.calls import InboxRequest, OutboxRequest, StoreRequest
from harness.core.values.messages import assistant, user


def _opened(history: History, n: int, faults: tuple[str, ...]) -> None:
    key = f"main/store#{n}"
    history.called(key=key, seam="store", request=StoreRequest("open", access="open"))
    history.answered(key, "store", faults=faults)


def _history(*faults: str, writes: bool = False) -> History:
    """A row is stored; at the next opening its number is another one, and there is a new row."""
    history = History()
    asked, said = history.note(user("hello")), history.note(assistant("Done."))
    history.stored(store="sqlite", added=(StoredRow("1", asked),))
    _opened(history, 1, faults)
    if writes:
        history.called(key="main/store#2", seam="store", request=StoreRequest("append"))
        history.answered("main/store#2", "store")
    added = (StoredRow("2", asked), StoredRow("3", said))
    history.stored(store="sqlite", added=added, gone=("1",))
    return history


def _added(history: History) -> list[tuple[str, ...]]:
    return [tuple(row.id for row in event.added) for event in history.trace.stored]


def test_a_row_that_only_damage_shows_again_is_not_added() -> None:
    history = _history("persistence.garbage_line")
    assert _added(history) == [("1",), ("3",)]
    assert history.trace.damages == {history.events[-1].n}


def test_a_text_that_damage_lays_twice_is_added_once() -> None:
    """`persistence.duplicate_call_ids` lays two rows of one call, also behind a kill."""
    history = History()
    _opened(history, 1, ("persistence.duplicate_call_ids",))
    call, said = history.note(assistant("Looking.")), history.note(user("on its way"))
    rows = tuple(StoredRow(str(n), d) for n, d in enumerate((call, said, call, said), start=1))
    history.stored(store="sqlite", added=rows)
    assert _added(history) == [("1", "2")]


def test_without_a_fault_all_that_is_seen_was_stored() -> None:
    assert _added(_history()) == [("1",), ("2", "3")]
    assert _history().trace.damages == set()


def test_behind_a_write_nobody_knows_whose_doing_it_is() -> None:
    history = _history("persistence.garbage_line", writes=True)
    assert _added(history) == [("1",), ("2", "3")]
    assert history.trace.damages == set()


@pytest.mark.parametrize("faults", [(), ("persistence.commit_forgotten",)])
def test_a_row_that_a_write_only_seemed_to_keep_is_lost_by_the_kill(
    faults: tuple[str, ...],
) -> None:
    history = History()
    kept = history.note(user("hello"))
    history.called(key="main/store#1", seam="store", request=StoreRequest("append"))
    history.answered("main/store#1", "store", faults=faults)
    history.stored(store="sqlite", added=(StoredRow("1", kept),))
    history.killed(at="main/outbox#1")
    history.stored(store="sqlite", gone=("1",))
    assert history.trace.damages == ({history.events[-1].n} if faults else set())


def test_what_a_kill_took_back_has_one_turn_and_its_newest_offer() -> None:
    """m2 waited at the kill, comes again, and begins its turn with that."""
    history = History()
    history.started(run="r", scenario="s", world="simulate", seams=("model", "inbox", "outbox"))

    def read(name: str, turn: int) -> None:
        key = f"main/inbox#{history.past.calls['inbox'] + 1}"
        where: dict[str, Any] = {"key": key, "seam": "inbox", "session": "main"}
        history.called(**where, turn=history.past.turn("main"), request=InboxRequest(reader=True))
        value = {"id": name, "session": "main", "text": f"the text of {name}"}
        history.answered(**where, turn=turn, value=value)

    read("m1", 1)
    read("m2", 1)
    history.killed(at="main/inbox#2")
    reply = OutboxRequest("final", "Yes.", in_reply_to="m1")
    where: dict[str, Any] = {"key": "main/outbox#1", "seam": "outbox", "session": "main", "turn": 1}
    history.called(**where, request=reply)
    history.answered(**where)
    read("m2", 2)
    read("m3", 2)
    turns = history.trace.turns
    assert [(n, t.delivery and t.delivery.inbound.id) for (_, n), t in turns.items()] == [
        (1, "m1"),
        (2, "m2"),
    ]
    second = turns["main", 2]
    assert [d.inbound.id for d in second.came] == ["m3"]


def test_an_offer_of_another_shape_has_no_schema() -> None:
    """Histories come from elsewhere too, and a damaged one is judged by what it still holds."""
    tools = [{"name": "a", "input_schema": {"type": "object"}}, {"name": "b", "input_schema": 3}]
    assert offered_schemas([*tools, {"name": ["c"]}, 4]) == {"a": {"type": "object"}, "b": {}}
    assert offered_schemas({"name": "a"}) == {}
