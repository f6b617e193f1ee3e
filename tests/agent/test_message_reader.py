"""The reference agent under each policy for messages in mid-turn, over the scenarios with them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness import FaultSpec, InboxItem, Scenario, Turn
from harness.agent import agent
from harness.core.values.errors import InputError
from harness.core.values.profile import InboundPolicy, Profile
from harness.files import load_scenarios
from harness.runner import run
from tests.runner.test_messages_in_mid_turn import POLICIES, SCENARIO

ROOT = Path(__file__).parents[2]
WIRES = ("anthropic", "openai-chat", "openai-responses", "gemini")
BUSY = [
    ROOT / "scenarios" / name
    for name in ("inbound/messages-while-busy.yaml", "inbound/new-message-kills-the-turn.yaml")
]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("policy", POLICIES)
def test_the_reference_agent_passes_by_its_policy(policy: InboundPolicy, wire: str) -> None:
    scenario = msgspec.structs.replace(SCENARIO, wire=wire)
    done = run(scenario, agent, profile=Profile(inbound=policy), options={"inbound": policy})
    assert (done.verdict.verdict, [f.code for f in done.verdict.findings]) == ("pass", [])
    assert done.history.past.delivered.total() == 3


@pytest.mark.real
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("path", BUSY, ids=lambda path: path.stem)
def test_it_passes_the_scenarios_with_messages_in_mid_turn(
    policy: InboundPolicy, path: Path
) -> None:
    profile, options = Profile(inbound=policy), {"inbound": policy}
    for scenario in load_scenarios(path):
        done = run(scenario, agent, profile=profile, options=options)
        # A cancel between two turns finds none where a reader asks in mid-turn.
        meets = scenario.variant != "cancel-when-it-is-over"
        found = [f.code for f in done.verdict.findings]
        wanted = "pass" if meets else "not_applicable"
        assert (done.verdict.verdict, found) == (wanted, []), scenario.variant


@pytest.mark.parametrize("policy", POLICIES)
def test_a_message_does_not_interrupt_or_join_its_own_turn_after_a_kill(
    policy: InboundPolicy,
) -> None:
    killed = Scenario(
        name="killed",
        inbox=(InboxItem(id="m1", text="How warm is it?"),),
        script=(Turn(say="It is mild.", times="forever"),),
        faults=(FaultSpec(kind="gateway.killed", on="model", when=1),),
    )
    done = run(killed, agent, profile=Profile(inbound=policy), options={"inbound": policy})
    assert [f.code for f in done.verdict.findings] == []
    (sent,) = done.history.trace.sendings
    assert (sent.request.text, sent.request.status) == ("It is mild.", "ok")
    said = [message.text for message in done.history.trace.exchanges[-1].node.messages]
    assert said.count("How warm is it?") == 1


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'steer'"):
        run(SCENARIO, agent, options={"inbound": "stear"})
