from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.history.history import History
from harness.core.history.past import Past
from harness.core.scenario import inbox
from harness.core.scenario.scenario import InboxItem
from harness.core.values.calls import InboxRequest, ModelRequest
from harness.core.values.errors import InputError


def _inbox(*items: InboxItem) -> inbox.Inbox:
    return inbox.Inbox(inbox.entries(items))


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
    made, past = _inbox(InboxItem(id="a"), InboxItem(id="b"), InboxItem(id="a")), Past()
    order = []
    while (entry := inbox.due(made, past, 0, busy=False)) is not None:
        order.append(entry.inbound.id)
        past.delivered["main", entry.inbound.id] += 1
    assert order == ["a", "b", "a"]


def test_an_id_names_another_message_in_each_session() -> None:
    items = [InboxItem(id="1", session="a", when={"ms": 9}), InboxItem(id="1", session="b")]
    made, past = _inbox(*items), Past()
    first = inbox.due(made, past, 0, busy=False)
    assert first is not None
    assert first.inbound.session == "b"
    past.delivered["b", "1"] += 1
    second = inbox.due(made, past, 9, busy=False)
    assert second is not None
    assert second.inbound.session == "a"


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
    made = _inbox(InboxItem(when=when))  # type: ignore[arg-type]
    assert (inbox.due(made, past, now_ms, busy) is not None) == is_due


def test_the_next_time_is_that_of_what_is_left() -> None:
    made, past = _inbox(InboxItem(when={"ms": 9}), InboxItem(when={"ms": 5})), Past()
    assert inbox.next_ms(made, past) == 5
    past.delivered["main", "m2"] = 1
    assert inbox.next_ms(made, past) == 9
    past.delivered["main", "m1"] = 1
    assert inbox.next_ms(made, past) is None
    assert list(made.pending(past)) == []


@pytest.mark.parametrize(
    "when", [{}, {"ms": -1}, {"ms": "1"}, {"after": "modle#1"}, {"after": "model#0"}, {"at": 1}]
)
def test_a_when_that_cannot_be(when: dict[str, object]) -> None:
    with pytest.raises(InputError, match="inbox message m1: when: "):
        inbox.entries([InboxItem(when=when)])


_ITEMS = st.builds(
    InboxItem,
    id=st.sampled_from(["", "", "a", "b"]),
    session=st.sampled_from(["main", "s"]),
    kind=st.sampled_from(["message", "message", "cancel"]),
    when=st.sampled_from(["idle", "start", {"ms": 0}, {"ms": 2}, {"ms": 9}, {"after": "inbox#2"}]),
)
_LOOKS = st.sampled_from(["next", "next", "messages", "poll", "kill", "end"])


@given(st.lists(_ITEMS, max_size=8), st.lists(_LOOKS, max_size=16))
def test_what_is_passed_over_is_what_a_search_of_the_whole_inbox_passes_over(
    items: list[InboxItem], looks: list[str]
) -> None:
    kept, past = _inbox(*items), Past()
    for now_ms, look in enumerate(looks):
        new = inbox.Inbox(kept.entries)
        assert [*kept.pending(past)] == [
            entry
            for entry in kept.entries
            if past.delivered[entry.inbound.session, entry.inbound.id] < entry.delivery
        ]
        assert [*inbox.never_due(kept, past, now_ms)] == [*inbox.never_due(new, past, now_ms)]
        found = _looked(new, past, now_ms, look)
        assert _looked(kept, past, now_ms, look) == found
        _carry_out(past, look, found, f"inbox#{now_ms}")


def _looked(box: inbox.Inbox, past: Past, now_ms: int, look: str) -> inbox.Entry | None:
    if look == "poll":
        return inbox.due_cancel(box, past, now_ms, "s")
    cancels = look == "next"
    timed = inbox.next_ms(box, past, cancels)
    found = inbox.due(box, past, now_ms, busy=False, cancels=cancels)
    return found or inbox.due(box, past, timed or now_ms, busy=False, cancels=cancels)


def _carry_out(past: Past, look: str, found: inbox.Entry | None, key: str) -> None:
    if look == "kill":
        past.see_killed()
    elif found is not None and look != "end":
        value: Any = msgspec.to_builtins(found.inbound)
        past.see_called(key, "inbox", "", InboxRequest(poll=look == "poll"))
        past.see_answered(key, "inbox", value=value)
