"""Every gateway fault on inbox and outbox, against a brief: it fires, and the agent meets this."""

from __future__ import annotations

import pytest

from harness.faults import faults
from tests.faults.gateway.outcomes import DELIVERY, INBOUND, KILLS, TAKING_BACK
from tests.faults.gateway.served import START_MS, Served

GATEWAY = [kind for kind in faults() if kind.startswith("gateway.")]


def test_every_fault_of_the_layer_is_met() -> None:
    assert {*INBOUND, *DELIVERY, *TAKING_BACK, *KILLS} == set(GATEWAY)


@pytest.mark.parametrize("kind", INBOUND)
def test_what_comes_out_of_the_inbox(kind: str) -> None:
    settings, expected = INBOUND[kind]
    served = Served(kind, **settings)
    assert [(m.id, m.session, m.text) for m in served.messages()] == expected
    assert served.fired == [kind] * settings.get("often", 1)


def test_a_message_that_was_overtaken_is_older_than_the_one_before_it() -> None:
    first, second = Served("gateway.overtaken", when=2).messages()
    assert (first.at_ms, second.at_ms) == (5_000, 4_000)


def test_an_older_message_may_come_again() -> None:
    served = Served("gateway.redelivered", when=3, back=2)
    assert [m.id for m in served.messages()] == ["m1", "m2", "m1"]


@pytest.mark.parametrize(
    "kind",
    [
        *("gateway.redelivered", "gateway.repeated_by_the_user", "gateway.overtaken"),
        "gateway.echoed",
    ],
)
def test_nothing_came_before_the_first_message(kind: str) -> None:
    served = Served(kind, when=1)
    assert [m.id for m in served.messages()] == ["m1", "m2"]
    assert served.fired == []


@pytest.mark.parametrize(
    "kind",
    [
        *("gateway.overtaken", "gateway.attachment_only", "gateway.attachment_too_large"),
        *("gateway.attachment_of_wrong_type", "gateway.session_key_collides"),
    ],
)
def test_at_the_end_there_is_no_message_to_change(kind: str) -> None:
    served = Served(kind, when=3)
    assert [m.id for m in served.messages()] == ["m1", "m2"]
    assert served.fired == []


@pytest.mark.parametrize("kind", DELIVERY)
def test_what_a_delivery_meets(kind: str) -> None:
    error, text, arrived, at_ms = DELIVERY[kind]
    served = Served(kind)
    with pytest.raises(error, match=text):
        served.brief.send("Good morning.")
    assert served.fired == [kind]
    assert served.clock.now_ms() == START_MS + at_ms
    assert [s.ends_turn for s in served.run.history.trace.sendings] == [arrived]
    served.brief.send("Good morning.")
    assert served.fired == [kind]


def test_a_flood_asks_for_a_pause_that_grows() -> None:
    spec = {"when": 1, "often": "forever", "retry_after": 10.0}
    with pytest.raises(RuntimeError, match="retry after 10"):
        Served("gateway.flood_wait", **spec).brief.send("x")


def test_parts_arrive_and_the_final_does_not() -> None:
    served = Served("gateway.final_fails", when=1, often="forever")
    served.brief.send("Good", kind="partial")
    served.brief.send("Wait a moment.", kind="notice")
    assert served.fired == []
    with pytest.raises(RuntimeError):
        served.brief.send("Good morning.")
