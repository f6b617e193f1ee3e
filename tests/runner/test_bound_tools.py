"""A scripted call meets a tool of the agent that the profile names; its runs are counted unseen."""

from __future__ import annotations

from typing import Any

import pytest

from harness.core.scenario.scenario import (
    Bounds,
    Expect,
    ExpectCalls,
    InboxItem,
    MustNot,
    Scenario,
    ToolScript,
    Turn,
)
from harness.core.values.profile import Profile
from harness.runner import run

OWN = [{"name": "my_weather", "input_schema": {"type": "object", "properties": {}}}]


def agent(brief: Any) -> None:
    """Answer with the help of `my_weather`, at most three times in a turn."""
    client = brief.anthropic()
    for message in brief.inbox():
        rows: list[Any] = [{"role": "user", "content": message.text}]
        for _ in range(4):
            made = client.messages.create(model="m", max_tokens=99, messages=rows, tools=OWN)
            calls = [block for block in made.content if block.type == "tool_use"]
            if not calls:
                break
            results = [
                {"type": "tool_result", "tool_use_id": c.id, "content": "mild"} for c in calls
            ]
            rows += [{"role": "assistant", "content": made.content}]
            rows += [{"role": "user", "content": results}]
        brief.send(made.content[0].text, in_reply_to=message.id)


@pytest.mark.parametrize(
    ("expect", "codes"),
    [
        (Expect(calls=ExpectCalls(tool={"weather": Bounds(min=2, max=2)})), []),
        (Expect(calls=ExpectCalls(tool={"weather": Bounds(max=1)})), ["expect.calls"]),
        (Expect(calls=ExpectCalls(tool={"weather": Bounds(min=3)})), ["expect.calls"]),
        (Expect(must_not=MustNot(call=("weather",))), ["expect.must_not"] * 2),
    ],
)
def test_runs_of_a_bound_tool_are_counted(expect: Expect, codes: list[str]) -> None:
    scenario = Scenario(
        name="weather", inbox=(InboxItem(text="What is the weather like in Oslo?"),),
        tools={"weather": ToolScript()}, expect=expect,
        script=(Turn(use="weather", times=2), Turn(say="It is mild.")),
        profile=Profile(tool_names={"weather": "my_weather"}),
    )  # fmt: skip
    found = [finding.code for finding in run(scenario, agent).verdict.findings]
    assert [code for code in found if code.startswith("expect.")] == codes
