"""Messages, stops and repeated answers around a question that is open: wrong agents and twins."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from examples.agents import gateway
from harness import ApprovalTurn, InboxItem, ToolTurn
from harness.agent import agent
from harness.core.values.profile import InboundPolicy, Profile
from harness.runner import run
from tests.catalogue.agents import approvals
from tests.mutants import hides_the_denial
from tests.scenarios.all_runs import SCENARIOS, named, runs_of

FILES = ("mid-turn/message-before-a-failure.yaml", "approval/message-while-parked.yaml")
RUNS = [scenario for file in FILES for scenario in runs_of(SCENARIOS / file)]
COMPACTED = "compacted-around-a-question"
STOPPED = "gated-call-in-a-batch/stopped-while-open"


@pytest.mark.parametrize("policy", get_args(InboundPolicy))
@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(
            s,
            id=s.run_name,
            marks=() if s.wire == "anthropic" and not s.variant else pytest.mark.real,
        )
        for s in RUNS
    ],
)
def test_the_reference_agent_passes_under_each_policy(policy: InboundPolicy, scenario: Any) -> None:
    played = run(scenario, agent, profile=Profile(inbound=policy), options={"inbound": policy})
    assert [f"{f.code}: {f.message}" for f in played.verdict.findings] == []
    assert played.verdict.verdict == "pass"


@pytest.mark.parametrize("policy", get_args(InboundPolicy))
def test_a_turn_that_goes_on_after_a_kill_may_collect_what_has_come(policy: InboundPolicy) -> None:
    """One reply answers both messages: no overlap, and no turn without an outcome."""
    scenario = named("two-answers-after-a-restart")
    played = run(scenario, agent, profile=Profile(inbound=policy), options={"inbound": policy})
    assert [f.code for f in played.verdict.findings] == []


@pytest.mark.parametrize(
    ("name", "wrong", "code"),
    [
        (
            "message-while-parked",
            approvals.drops_what_comes_while_it_waits,
            "inbound_exactly_once.lost",
        ),
        ("message-while-parked", approvals.takes_any_words_for_a_yes, "approval.denied"),
        (STOPPED, approvals.lets_a_yes_outweigh_a_stop, "cancel_honoured.tool"),
        ("allowed-hours-later", approvals.runs_it_again_in_the_next_turn, "effect_once.again"),
        (COMPACTED, approvals.runs_it_again_after_a_compaction, "effect_once.again"),
        (f"{COMPACTED}/denied", hides_the_denial.agent, "approval.untold"),
    ],
)
def test_what_a_wrong_agent_does_leads(name: str, wrong: Any, code: str) -> None:
    assert run(named(name), wrong).verdict.findings[0].code == code


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("message-while-parked", approvals.says_that_it_waits),
        ("message-while-parked/denied-after-it", approvals.says_that_it_waits),
        (STOPPED, approvals.ends_the_question_with_the_turn),
        (COMPACTED, approvals.ends_the_question_with_the_turn),
    ],
)
def test_a_twin_passes(name: str, right: Any) -> None:
    assert run(named(name), right).verdict.verdict == "pass"


@pytest.mark.parametrize("policy", gateway.POLICIES)
def test_a_stop_says_enough_of_a_call_that_is_denied_after_it(policy: InboundPolicy) -> None:
    """Under `interrupt` the gateway tells the model of the stop, and not of the later denial."""
    denied = named("message-while-parked/denied-after-it")
    options = {"inbound": policy}
    played = run(denied, gateway.agent, profile=Profile(inbound=policy), options=options)
    assert [f.code for f in played.verdict.findings] == []
    assert played.verdict.verdict == "pass"


@pytest.mark.parametrize(
    ("target", "codes"), [(agent, []), (hides_the_denial.agent, ["approval.untold"])]
)
def test_a_denial_before_a_stop_is_told(target: Any, codes: list[str]) -> None:
    """The sibling of the denied call runs for a minute, and the stop comes meanwhile."""
    stopped = named("denied-beside-a-free-call/cancelled-while-open")
    denial = ApprovalTurn(answer="deny", reason="The audit still needs record X17.")
    slow = ToolTurn(ok="X17, Y18 and Z19", hang=60, times="forever")
    tools = stopped.tools | {
        "delete_record": msgspec.structs.replace(
            stopped.tools["delete_record"], approval=(denial,)
        ),
        "list_records": msgspec.structs.replace(stopped.tools["list_records"], script=(slow,)),
    }
    later = InboxItem(id="m2", text="Thank you.", when={"ms": 900000})
    scenario = msgspec.structs.replace(stopped, tools=tools, inbox=(*stopped.inbox, later))
    assert [f.code for f in run(scenario, target).verdict.findings] == codes
