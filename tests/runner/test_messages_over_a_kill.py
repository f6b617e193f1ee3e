"""A kill while messages wait: what was accepted stays with the agent, and each has its own turn."""

from __future__ import annotations

import threading
from typing import Any

import msgspec
import pytest

from examples.agents.gateway import Gateway
from examples.agents.gateway import agent as gateway
from harness.core.history.events import Accepted
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.values.profile import InboundPolicy, Profile
from harness.runner import Run, run
from harness.targets import TargetSpec, of_callable, resolve
from tests.runner.test_messages_in_mid_turn import Agent

INBOX = (
    InboxItem(text="Do the work in two steps."),
    InboxItem(text="Leave the second one out.", when={"ms": 5000}),
    InboxItem(text="And write no report.", when={"ms": 7000}),
    InboxItem(text="Thanks, that is all."),
)
KILLED = FaultSpec(kind="gateway.killed", on="tool", when=1, settings={"at": "after"})
SCENARIO = Scenario(
    name="killed-with-two-that-wait",
    policy="open",
    tools={"step": ToolScript(script=(ToolTurn(ok="done", hang=10, times="forever"),))},
    inbox=INBOX,
    script=(
        *(Turn(use="step", optional=True),) * 3,
        Turn(say="The work is done.", times="forever"),
    ),
    faults=(KILLED,),
)


def played(target: TargetSpec, policy: InboundPolicy) -> Run:
    return run(msgspec.structs.replace(SCENARIO, profile=Profile(inbound=policy)), target)


def codes_of(done: Run) -> list[str]:
    return [finding.code for finding in done.verdict.findings]


@pytest.mark.parametrize("policy", ["queue", "steer", "interrupt", "collect"])
def test_the_reference_agent_answers_what_it_had_accepted(policy: InboundPolicy) -> None:
    done = played(resolve("reference"), policy)
    assert (done.verdict.verdict, codes_of(done)) == ("pass", [])
    assert len(done.history.trace.kills) == 1


@pytest.mark.parametrize("policy", ["queue", "steer"])
def test_a_gateway_answers_each_in_its_turn(policy: InboundPolicy) -> None:
    target = msgspec.structs.replace(of_callable(gateway), options={"inbound": policy})
    done = played(target, policy)
    assert (done.verdict.verdict, codes_of(done)) == ("pass", [])


def test_a_restart_that_goes_on_with_another_session_works_for_that_one() -> None:
    """A request that names no session is known by the message that it holds."""
    side = InboxItem(text="Look at this, too.", session="side", when={"ms": 5000})
    scenario = msgspec.structs.replace(
        SCENARIO,
        inbox=(INBOX[0], side),
        script=(*(Turn(use="step"), Turn(say="Done.")) * 2, Turn(say="Done.", times="forever")),
        faults=(msgspec.structs.replace(KILLED, when=2),),
        profile=Profile(inbound="queue"),
    )
    done = run(scenario, resolve("reference"))
    assert (done.verdict.verdict, codes_of(done)) == ("pass", [])
    (killed,) = done.history.trace.kills
    later = [e.called.session for e in done.history.trace.exchanges if e.n > killed]
    assert set(later) == {"side"}


def forgetful(brief: Any) -> None:
    """Keeps what it has accepted in its memory alone."""
    agent = Agent(brief, "queue")
    reader = threading.Thread(target=agent.read)
    reader.start()
    agent.work()
    reader.join()


def test_what_was_accepted_does_not_come_again() -> None:
    done = played(of_callable(forgetful), "queue")
    accepted = [event.n for event in done.history.events if isinstance(event, Accepted)]
    assert accepted[0] < done.history.trace.kills[0]
    assert "inbound_exactly_once.lost" in codes_of(done)
    assert {delivery.inbound.attempt for delivery in done.history.trace.deliveries} == {1}


WAITED = ": it waited when a kill came, and no start takes it up"


class DropsFirst(Gateway):
    """Takes a message out of its queue, and then stores it with the conversation."""

    def taken_from_queue(self, message: Any) -> bool:
        self.waiting.drop(message)
        return super().taken_from_queue(message)


@pytest.mark.parametrize("is_wrong", [False, True])
def test_what_a_reader_had_accepted_is_lost_if_a_kill_comes_before_the_store(
    is_wrong: bool,
) -> None:
    """A message that a reader has accepted does not come again, so no kill excuses the loss."""
    at, settings = {"on": "store:accept", "when": 2}, {"point": "before"}
    killed = FaultSpec(kind="persistence.killed_at_write", settings=settings, **at)
    scenario = msgspec.structs.replace(SCENARIO, faults=(killed,), profile=Profile(inbound="queue"))
    kind = DropsFirst if is_wrong else Gateway
    done = run(scenario, of_callable(lambda brief: kind(brief).run()))
    found = [f.message for f in done.verdict.findings if f.code == "inbound_exactly_once.lost"]
    assert [text.rpartition(": ")[2] for text in found] == [
        "a kill ended turn 2 of main, and no start takes it up"
    ] * is_wrong


class StartsEmpty(Gateway):
    """Forgets at its start what waits."""

    def run(self) -> None:
        while (message := self.waiting.first()) is not None:
            self.waiting.drop(message)
        super().run()


def test_what_waited_at_a_kill_is_told_so() -> None:
    done = played(of_callable(lambda brief: StartsEmpty(brief).run()), "queue")
    found = [f.message for f in done.verdict.findings if f.code == "inbound_exactly_once.lost"]
    assert [text[-len(WAITED) :] for text in found] == [WAITED] * 2
