from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.history.history import History
from harness.core.history.past import Past
from harness.core.scenario import inbox
from harness.core.scenario.scenario import InboxItem
from harness.core.values.calls import ModelRequest
from harness.core.values.errors import InputError


def test_ids_are_given_and_never_taken_twice() -> None:
    items = [InboxItem(id="m2"), InboxItem(), InboxItem(), InboxItem(id="m4")]
    found = [entry.inbound.id for entry in inbox.entries(items)]
    assert found == ["m2", "m6", "m3", "m4"]


@given(st.lists(st.sampled_from(["", "m1", "m2", "m3", "x"]), max_size=8))
def test_only_what_the_file_names_twice_is_delivered_twice(names: list[str]) -> None:
    made = inbox.entries([InboxItem(id=name) for name in names])
    for name, entry in zip(names, made, strict=True):
        twice = [e for e in made if e.inbound.id == entry.inbound.id]
        assert len(twice) == (names.count(name) if name else 1)
        assert [e.delivery for e in twice] == list(range(1, len(twice) + 1))


def test_an_id_comes_again_as_often_as_the_file_says() -> None:
    made, past = inbox.entries([InboxItem(id="a"), InboxItem(id="b"), InboxItem(id="a")]), Past()
    order = []
    while (entry := inbox.due(made, past, 0, busy=False)) is not None:
        order.append(entry.inbound.id)
        past.delivered[entry.inbound.id] += 1
    assert order == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("when", "busy", "now_ms", "is_due"),
    [
        ("start", True, 0, True),
        ("idle", True, 0, False),
        ("idle", False, 0, True),
        ({"ms": 10}, True, 9, False),
        ({"ms": 10}, True, 10, True),
        ({"after": "model#2"}, False, 10**9, False),
        ({"after": "model#1"}, True, 0, True),
        ({"after": "s/model#1"}, True, 0, True),
    ],
)
def test_when_a_message_is_due(when: object, busy: bool, now_ms: int, is_due: bool) -> None:
    history = History()
    history.called(key="s/model#1", seam="model", session="s", request=ModelRequest("m", ()))
    history.answered(key="s/model#1", seam="model")
    past = history.past
    made = inbox.entries([InboxItem(when=when)])  # type: ignore[arg-type]
    assert (inbox.due(made, past, now_ms, busy) is not None) == is_due


def test_the_next_time_is_that_of_what_is_left() -> None:
    made, past = inbox.entries([InboxItem(when={"ms": 9}), InboxItem(when={"ms": 5})]), Past()
    assert inbox.next_ms(made, past) == 5
    past.delivered["m2"] = 1
    assert inbox.next_ms(made, past) == 9
    past.delivered["m1"] = 1
    assert inbox.next_ms(made, past) is None
    assert list(inbox.pending(made, past)) == []


@pytest.mark.parametrize(
    "when", [{}, {"ms": -1}, {"ms": "1"}, {"after": "modle#1"}, {"after": "model#0"}, {"at": 1}]
)
def test_a_when_that_cannot_be(when: dict[str, object]) -> None:
    with pytest.raises(InputError, match="inbox message m1: when: "):
        inbox.entries([InboxItem(when=when)])
