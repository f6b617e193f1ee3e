"""Every gateway fault against a brief: it fires, and the agent meets this."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anthropic
import pytest

from harness.clock import VirtualClock
from harness.core.calls import Inbound
from harness.core.draws import Draws
from harness.core.history import History
from harness.core.scenario import FaultSpec, InboxItem, Scenario, ToolScript, Turn
from harness.core.script import TurnScript
from harness.core.transition import Transition
from harness.doors.door import Door
from harness.doors.in_process import InProcessBrief
from harness.faults import arm, faults
from harness.wires import by_name

START_MS = 5_000
GATEWAY = [kind for kind in faults() if kind.startswith("gateway.")]


class Served:
    """A brief with two messages and one fault; what an agent can do with it."""

    def __init__(
        self, kind: str, *, when: Any = 1, on: str = "", often: Any = "once", **settings: Any
    ) -> None:
        spec = FaultSpec(kind=kind, on=on, when=when, often=often, settings=settings)
        turns = (Turn(say="Good morning to you.", times="forever"),)
        scenario = Scenario(
            name="served",
            stream=True,
            tools={"look": ToolScript()},
            inbox=(InboxItem(text="one"), InboxItem(text="two")),
            faults=(spec,),
        )
        self.run = Transition(
            scenario,
            by_name("anthropic"),
            TurnScript(turns, Draws(0)),
            History(),
            faults=[arm(spec)],
        )
        self.clock, self.killed = VirtualClock(START_MS), 0
        self.brief = InProcessBrief(Door(self.run, self.clock, on_kill=self._die), Path("/nowhere"))

    def _die(self) -> None:
        self.killed += 1

    @property
    def fired(self) -> list[str]:
        """The faults that struck."""
        return [kind for event in self.run.history.events for kind in getattr(event, "faults", ())]

    def messages(self) -> Iterable[Inbound]:
        """What the inbox gives, each answered by its own text."""
        for inbound in self.brief.inbox():
            yield inbound
            self.brief.send(f"You said: {inbound.text}", session=inbound.session)

    def ask(self, stream: bool = False) -> Any:
        """One request to the model."""
        client = self.brief.anthropic(max_retries=0)
        asked: dict[str, Any] = {
            "model": "m",
            "max_tokens": 9,
            "messages": [{"role": "user", "content": "hi"}],
        }
        if not stream:
            return client.messages.create(**asked)
        with client.messages.stream(**asked) as events:
            return events.get_final_message()


INBOUND: dict[str, tuple[dict[str, Any], list[tuple[str, str, str]]]] = {
    "gateway.redelivered": (
        {"when": 2},
        [("m1", "main", "one"), ("m1", "main", "one"), ("m2", "main", "two")],
    ),
    "gateway.repeated_by_the_user": (
        {"when": 2},
        [("m1", "main", "one"), ("fault-2", "main", "one"), ("m2", "main", "two")],
    ),
    "gateway.overtaken": ({"when": 2}, [("m1", "main", "one"), ("m2", "main", "two")]),
    "gateway.crowded": (
        {"when": 2, "often": 2, "text": "?"},
        [
            *(("m1", "main", "one"), ("fault-2", "main", "?")),
            *(("fault-3", "main", "?"), ("m2", "main", "two")),
        ],
    ),
    "gateway.cancelled_between": (
        {"when": 2},
        [("m1", "main", "one"), ("fault-2", "main", ""), ("m2", "main", "two")],
    ),
    "gateway.echoed": (
        {"when": 2},
        [("m1", "main", "one"), ("fault-2", "main", "You said: one"), ("m2", "main", "two")],
    ),
    "gateway.background_message": (
        {"when": 3, "text": "done"},
        [("m1", "main", "one"), ("m2", "main", "two"), ("fault-3", "main", "done")],
    ),
    "gateway.heartbeat": (
        {"text": "tick"},
        [("fault-1", "heartbeat", "tick"), ("m1", "main", "one"), ("m2", "main", "two")],
    ),
    "gateway.attachment_only": ({}, [("m1", "main", ""), ("m2", "main", "two")]),
    "gateway.attachment_too_large": (
        {"characters": 3},
        [("m1", "main", "one\nxxx"), ("m2", "main", "two")],
    ),
    "gateway.attachment_of_wrong_type": (
        {},
        [("m1", "main", "one\n\u0000PNG\udcff\u2028\ufffe"), ("m2", "main", "two")],
    ),
    "gateway.session_key_collides": (
        {"when": 2, "session": "ada"},
        [("m1", "main", "one"), ("m2", "ada", "two")],
    ),
}

DELIVERY: dict[str, tuple[type[Exception], str, bool, int]] = {
    "gateway.delivery_fails": (RuntimeError, "the chat is gone", False, 0),
    "gateway.delivery_times_out": (TimeoutError, "the channel does not answer", False, 30_000),
    "gateway.flood_wait": (RuntimeError, "the outbox answered 429", False, 0),
    "gateway.confirmation_lost": (TimeoutError, "the channel does not answer", True, 0),
    "gateway.final_fails": (RuntimeError, "the chat is gone", False, 0),
}
"""What `send` raises, whether the text has arrived all the same, and how long it took."""

TAKING_BACK = {"gateway.cancelled": "cancel", "gateway.disconnected": "disconnect"}
KILLS = {"gateway.killed", "gateway.poison_message", "gateway.killed_mid_answer"}


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


@pytest.mark.parametrize("kind", TAKING_BACK)
def test_the_user_takes_a_turn_back(kind: str) -> None:
    served = Served(kind, when={"after": "main/model#1"})
    assert next(iter(served.brief.inbox())).id == "m1"
    assert not served.brief.cancelled()
    served.ask()
    assert served.brief.cancelled()
    assert served.brief.cancelled(), "it stays taken back"
    assert served.fired == [kind]
    (found,) = [a for a in served.run.history.trace.answers if a.key == "main/inbox#2"]
    assert found.value["kind"] == TAKING_BACK[kind]


@pytest.mark.parametrize("kind", TAKING_BACK)
def test_a_turn_is_taken_back_after_so_many_calls(kind: str) -> None:
    served = Served(kind, when=2)
    inbox = iter(served.brief.inbox())
    next(inbox)
    assert not served.brief.cancelled()
    served.ask()
    served.ask()
    assert served.brief.cancelled(), "at the first look after it"
    assert next(inbox).id == "m2"
    assert not served.brief.cancelled(), "another turn"


@pytest.mark.parametrize("kind", TAKING_BACK)
def test_a_look_that_finds_nothing_is_on_no_record(kind: str) -> None:
    served = Served(kind, when=9)
    next(iter(served.brief.inbox()))
    before = len(served.run.history.events)
    assert not served.brief.cancelled()
    assert len(served.run.history.events) == before


@pytest.mark.parametrize("kind", TAKING_BACK)
def test_a_question_for_a_message_is_no_look(kind: str) -> None:
    served = Served(kind, on="inbox", when=1)
    assert [m.id for m in served.messages()] == ["m1", "m2"]
    assert served.fired == []


@pytest.mark.parametrize("on", ["model", "tool", "inbox", "outbox"])
@pytest.mark.parametrize("at", ["before", "after"])
def test_a_kill_on_each_seam(on: str, at: str) -> None:
    served = Served("gateway.killed", on=on, at=at)
    use = {
        "model": served.ask,
        "tool": lambda: served.brief.tools[0].call({}, id="t"),
        "inbox": lambda: next(iter(served.brief.inbox())),
        "outbox": lambda: served.brief.send("x"),
    }[on]
    if at == "before":
        with pytest.raises((ConnectionError, anthropic.APIConnectionError)):
            use()
    else:
        use()
    assert (served.killed, served.fired) == (1, ["gateway.killed"])


def test_a_poison_message_kills_whoever_works_on_it() -> None:
    served = Served("gateway.poison_message", when={"after": 0}, often="forever", message="m2")
    for inbound in served.messages():
        if inbound.id == "m1":
            served.ask()
            assert served.killed == 0
        else:
            with pytest.raises(anthropic.APIConnectionError):
                served.ask()
    assert (served.killed, served.fired) == (1, ["gateway.poison_message"])


def test_a_kill_in_the_middle_of_an_answer() -> None:
    served = Served("gateway.killed_mid_answer", after=2)
    assert served.ask(stream=True).content[0].text == "", "two events came"
    assert (served.killed, served.fired) == (1, ["gateway.killed_mid_answer"])
    whole = Served("gateway.killed_mid_answer")
    assert whole.ask().content[0].text == "Good morning to you."
    assert whole.killed == 0, "an answer that is no stream is one piece"
