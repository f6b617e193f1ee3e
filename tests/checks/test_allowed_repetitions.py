"""A file's `max` agrees with the rules about repetition, and the profile beats both."""

from __future__ import annotations

from typing import Any

import pytest

from harness import InboxItem, Scenario, ToolError, ToolScript, ToolTurn, Turn, run
from harness.checks.false_stops import no_false_stop
from harness.core.scenario.scenario import Bounds, Expect, ExpectCalls, FaultSpec
from harness.core.values.profile import Profile
from tests.checks.histories import Story, codes, loop, use

LOOP = Scenario(
    name="loop",
    policy="open",
    tools={"memory": ToolScript(script=(ToolTurn(error="the disk is full", times="forever"),))},
    inbox=(InboxItem(id="m1", text="Remember Oslo."),),
    script=(Turn(use="memory", input={"text": "Oslo"}, times=20),),
    expect=Expect(calls=ExpectCalls(model=Bounds(max=3), tool={"memory": Bounds(max=3)})),
)
FOUR = Profile(checks={"no_progress_stop": {"repeats": 4}})


def _stops_after(most: int, *, changes: bool = False) -> Any:
    """An agent that runs a failing call so often; with `changes` the last time in other words."""

    def agent(brief: Any) -> None:
        client, tool = brief.anthropic(), brief.tools[0]
        offered = [{"name": tool.name, "input_schema": tool.input_schema}]
        for message in brief.inbox():
            rows: list[Any] = [{"role": "user", "content": message.text}]
            for n in range(most):
                reply = client.messages.create(
                    model="any", max_tokens=99, messages=rows, tools=offered
                )
                call = reply.content[-1]
                blocks = [block.model_dump(exclude_none=True) for block in reply.content]
                rows.append({"role": "assistant", "content": blocks})
                value = {"text": "Rome"} if changes and n == most - 1 else call.input
                try:
                    tool.call(value, id=call.id)
                except ToolError as error:
                    told = {"type": "tool_result", "tool_use_id": call.id, "is_error": True}
                    rows.append({"role": "user", "content": [{**told, "content": str(error)}]})
            brief.send("The disk is full.", kind="error", in_reply_to=message.id)

    return agent


def _codes(agent: Any, scenario: Scenario = LOOP, profile: Profile | None = None) -> set[str]:
    found = run(scenario, agent, profile=profile).verdict.findings
    return {f.code for f in found if f.code in ("expect.calls", "no_progress_stop.same_failure")}


def test_the_profile_beats_the_counts_of_a_file() -> None:
    assert _codes(_stops_after(3)) == set()
    assert _codes(_stops_after(4), profile=FOUR) == set()
    found = _codes(_stops_after(5), profile=FOUR)
    assert found == {"expect.calls", "no_progress_stop.same_failure"}


def test_without_the_profile_a_fourth_call_is_too_many() -> None:
    found = _codes(_stops_after(4))
    assert found == {"expect.calls", "no_progress_stop.same_failure"}


def test_the_profile_beats_the_settings_of_a_file_and_a_file_the_default() -> None:
    strict = Scenario(
        name="strict", policy="open", tools=LOOP.tools, inbox=LOOP.inbox, script=LOOP.script,
        checks={"no_progress_stop": {"repeats": 2}},
    )  # fmt: skip
    assert _codes(_stops_after(3), strict) == {"no_progress_stop.same_failure"}
    assert _codes(_stops_after(4), strict, FOUR) == set()


def test_a_max_counts_calls_that_do_not_repeat() -> None:
    tools = {"memory": ToolScript(script=tuple(ToolTurn(error=f"error of {n}") for n in "abcd"))}
    other = Scenario(
        name="other", policy="open", tools=tools, inbox=LOOP.inbox, script=LOOP.script,
        expect=LOOP.expect,
    )  # fmt: skip
    assert _codes(_stops_after(4), other, FOUR) == {"expect.calls"}


@pytest.mark.parametrize(("attempts", "found"), [(5, set()), (4, {"expect.calls"})])
def test_the_profiles_attempts_beat_the_models_max(attempts: int, found: set[str]) -> None:
    down = Scenario(
        name="down", policy="open", inbox=LOOP.inbox, script=(Turn(say="Hi."),),
        faults=(FaultSpec(kind="http.overloaded", when=1, often=4),),
        expect=Expect(calls=ExpectCalls(model=Bounds(max=2))),
    )  # fmt: skip

    def agent(brief: Any) -> None:
        for message in brief.inbox():
            said = [{"role": "user", "content": message.text}]
            client = brief.anthropic(max_retries=4)
            reply = client.messages.create(model="any", max_tokens=99, messages=said)
            brief.send(reply.content[0].text, in_reply_to=message.id)

    profile = Profile(checks={"retry_budget": {"attempts": attempts}})
    assert _codes(agent, down, profile) == found


@pytest.mark.parametrize(("times", "found"), [(3, []), (2, ["no_false_stop.ended"])])
def test_an_answer_that_holds_one_call_again_and_again_may_end_the_turn(
    times: int, found: list[str]
) -> None:
    calls = [use("poll", {"n": 1}, id=f"c{n}") for n in range(times)]
    story = (
        loop(loop(Story().turn("go"), "poll", 1, content="1 %"), "poll", 1, content="2 %")
        .reply(*calls)
        .final("It asks the same at once.", status="failed")
    )
    assert codes(no_false_stop(story.end())) == found
