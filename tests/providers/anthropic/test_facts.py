"""Counts and models, asked by the official client through both transports."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import anthropic
import pytest

from harness import faults
from harness.core.history.events import Answered, Called
from harness.core.history.history import canonical, decode, encode
from harness.core.scenario.scenario import FaultSpec, InboxItem, Limits, Scenario, Turn
from harness.core.transition.arming import ArmedFault
from harness.core.transition.limits import LIMIT_ANSWERS_MAX, STOP
from harness.core.transition.ports import Moment
from harness.core.transition.transition import Transition
from harness.core.values.brief import Brief
from harness.core.values.calls import ProviderRequest, Received
from harness.core.values.plans import Answer, Facts, Plan, Send
from harness.providers.anthropic.record import RECORD
from harness.runner import run as play
from tests.providers.anthropic.world import called, in_process, loopback, run

ASK: dict[str, Any] = {"model": "claude-opus-5", "messages": [{"role": "user", "content": "hi"}]}
WINDOW = 5000
SAY = Turn(say="a")

TRANSPORTS = [in_process, loopback]
Opened = Callable[[Transition], Any]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_count_is_the_one_that_usage_goes_by_and_no_turn_of_the_script(transport: Opened) -> None:
    transition = run(SAY, window_tokens=WINDOW)
    with transport(transition) as client:
        counted = client.messages.count_tokens(**ASK)
        message = client.messages.create(max_tokens=10, **ASK)
    assert counted.input_tokens == message.usage.input_tokens > 0
    assert message.content[0].text == "a"
    count, reply = called(transition)
    assert count.request == ProviderRequest("count_tokens", "claude-opus-5", counted.input_tokens)
    assert (count.key, reply.key) == ("main/provider#1", "main/model#1")
    assert transition.history.past.calls["model"] == 1


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_count_is_refused_as_the_request_itself_is(transport: Opened) -> None:
    transition = run(SAY, window_tokens=WINDOW)
    with transport(transition) as client, pytest.raises(anthropic.BadRequestError) as refused:
        client.messages.count_tokens(model="m", messages=[{"role": "user", "content": " "}])
    assert "must contain non-whitespace text" in refused.value.message


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_prompt_over_the_window_can_be_counted(transport: Opened) -> None:
    messages = [{"role": "user", "content": "word " * 5000}]
    transition = run(SAY, window_tokens=WINDOW)
    with transport(transition) as client:
        assert client.messages.count_tokens(model="m", messages=messages).input_tokens > WINDOW


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_models_have_the_window_of_the_scenario(transport: Opened) -> None:
    transition = run(SAY, window_tokens=WINDOW)
    with transport(transition) as client:
        listed = list(client.models.list())
        one = client.models.retrieve("claude-haiku-4-5")
        unknown = client.beta.models.retrieve("mine")
    assert [model.id for model in listed] == list(RECORD.models)
    assert {model.max_input_tokens for model in (*listed, one, unknown)} == {WINDOW}
    assert (one.max_tokens, one.line, one.lifecycle) == (64_000, "haiku", "active")
    assert one.capabilities.thinking.types.enabled.supported
    assert not one.capabilities.thinking.types.adaptive.supported
    assert unknown.max_tokens == 128_000
    assert [event.seam for event in called(transition)] == ["provider"] * 3


def test_a_fault_can_make_counts_disagree_with_usage() -> None:
    spec = FaultSpec(
        kind="http.count_tokens_disagrees", on="provider", settings={"factor": 1.5}, when=1
    )
    fault = faults.arm(spec)
    transition = run(SAY, faults=(fault,))
    with in_process(transition) as client:
        counted = client.messages.count_tokens(**ASK).input_tokens
        real = client.messages.create(max_tokens=10, **ASK).usage.input_tokens
    assert counted == round(real * 1.5) != real
    assert fault.fired == 1
    answered = [e.faults for e in transition.history.events if isinstance(e, Answered)]
    assert answered == [("http.count_tokens_disagrees",), ()]


def scaled(moment: Moment, plan: Plan) -> Plan:
    """A thousand tokens for any text."""
    match plan:
        case (Answer(Facts()),):
            return (Answer(Facts({"input_tokens": 1000})),)
    return plan


def test_a_fault_may_bend_the_facts_before_they_are_written() -> None:
    fault = ArmedFault(FaultSpec(kind="test.scaled", on="provider"), scaled, "value")
    transition = run(SAY, faults=(fault,))
    with in_process(transition) as client:
        assert client.messages.count_tokens(**ASK).input_tokens == 1000
    answered = next(e for e in transition.history.events if isinstance(e, Answered))
    assert answered.value == {"input_tokens": 1000}


def test_both_transports_leave_one_history() -> None:
    histories = []
    for transport in TRANSPORTS:
        transition = run(SAY, window_tokens=WINDOW)
        with transport(transition) as client:
            client.messages.count_tokens(**ASK)
            client.models.retrieve("m")
        histories.append(canonical(transition.history))
    assert histories[0] == histories[1]


def test_a_question_past_the_run_s_time_is_told_so() -> None:
    transition = run(SAY, limits=Limits(virtual_s=0))
    asked = transition.question("GET", "/v1/models")
    assert asked is not None
    (step,) = transition.provider(asked, Received("/v1/models", {}, b"", at_ms=1))
    assert isinstance(step, Send)
    assert b"the limit virtual_s = 0 is reached" in step.data


def test_the_history_of_a_count_reads_back() -> None:
    transition = run(SAY)
    with in_process(transition) as client:
        client.messages.count_tokens(**ASK)
    lines = encode(transition.history.events)
    assert encode(decode(lines).events) == lines
    assert decode(lines).past.calls["provider"] == 1


def counting(brief: Brief) -> None:
    """An agent that counts before it asks."""
    client = brief.anthropic()
    for inbound in brief.inbox():
        ask = {"model": "m", "messages": [{"role": "user", "content": inbound.text}]}
        assert (
            client.messages.count_tokens(**ask).input_tokens
            < client.models.retrieve("m").max_input_tokens
        )
        message = client.messages.create(max_tokens=100, **ask)
        brief.send(message.content[0].text, in_reply_to=inbound.id, status="completed")


def test_an_agent_that_counts_is_judged_as_one_that_does_not() -> None:
    scenario = Scenario(
        name="counting", inbox=(InboxItem(id="m1", text="hi"),), script=(SAY,), window_tokens=WINDOW
    )
    played = play(scenario, counting)
    assert played.verdict.findings == ()
    assert [e.seam for e in played.history.events if isinstance(e, Called)] == [
        *("inbox", "provider", "provider", "model", "outbox", "inbox")
    ]


def test_who_asks_for_ever_is_told_of_the_limit_and_then_stopped() -> None:
    transition = run(SAY, limits=Limits(provider_calls=2))
    asked = transition.question("GET", "/v1/models")
    assert asked is not None
    plans = [
        transition.provider(asked, Received("/v1/models", {}, b"", at_ms=0))
        for _ in range(2 + LIMIT_ANSWERS_MAX + 1)
    ]
    said = [step.data for plan in plans for step in plan if isinstance(step, Send)]
    told = [b"the limit provider_calls = 2 is reached" in data for data in said]
    assert told == [False] * 2 + [True] * LIMIT_ANSWERS_MAX
    assert plans[-1] == (STOP,)


def counts_for_ever(brief: Brief) -> None:
    """An agent that counts again until somebody answers otherwise."""
    client = brief.anthropic()
    for inbound in brief.inbox():
        messages = [{"role": "user", "content": inbound.text}]
        client.messages.create(model="m", max_tokens=9, messages=messages)
        while True:
            with contextlib.suppress(anthropic.APIError):
                client.messages.count_tokens(model="m", messages=messages)


def test_an_agent_that_counts_for_ever_ends() -> None:
    scenario = Scenario(name="counts", inbox=(InboxItem(text="hi"),), script=(SAY,))
    done = play(scenario, counts_for_ever)
    assert "limit.provider_calls" in {f.code for f in done.verdict.findings}
    assert done.history.past.calls["provider"] <= Limits().provider_calls + LIMIT_ANSWERS_MAX + 1
