"""Turns that the user takes back, and kills: at each seam, and in the middle of an answer."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest

from harness import InboxItem, Scenario, Turn, run
from harness.core.scenario.scenario import FaultSpec
from tests.faults.gateway.outcomes import TAKING_BACK
from tests.faults.gateway.served import Served


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
    assert whole.killed == 0, "an answer that is not a stream is one piece"


def _forgetful(brief: Any) -> None:
    """An agent without a store: what it had taken comes again after a kill."""
    client = brief.anthropic()
    for message in brief.inbox():
        asked = [{"role": "user", "content": message.text}]
        reply = client.messages.create(model="any", max_tokens=99, messages=asked)
        brief.send(reply.content[0].text, in_reply_to=message.id)


def test_what_comes_again_after_a_kill_comes_before_what_is_new() -> None:
    kill = FaultSpec(kind="gateway.killed", on="model", settings={"at": "after"})
    crowd = FaultSpec(kind="gateway.crowded", when=2, often=2)
    inbox = (InboxItem(id="m1", text="Good morning."), InboxItem(id="m2", text="Good night."))
    said = Turn(say="Yes.", times="forever", optional=True)
    scenario = Scenario(name="crowded", inbox=inbox, script=(said,), faults=(kill, crowd))
    done = run(scenario, _forgetful, isolate=True)
    came = [(d.inbound.id, d.inbound.attempt) for d in done.history.trace.deliveries]
    assert came[:2] == [("m1", 1), ("m1", 2)]
    assert [name for name, _ in came[2:]] == ["fault-3", "fault-4", "m2"]
