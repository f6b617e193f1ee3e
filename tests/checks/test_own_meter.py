"""An agent's own meter of tokens: one that counts twice, or never begins again, stops too early."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from harness import run
from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.core.values.profile import Profile

BUDGET = 30_000
COSTS = {"input_tokens": 100, "cache_read_input_tokens": 900, "output_tokens": 3_000}
"""Of one answer: five of them are half of the budget, and ten are more than all of it."""

Meter = Literal["right", "each event", "the cache twice", "all turns"]


def _cost(usages: list[Any], meter: Meter) -> int:
    """What an agent counts for a streamed answer, from the usage of its two events."""
    begun, ended = usages
    prompt = begun.input_tokens + begun.cache_read_input_tokens
    cost: int = prompt + ended.output_tokens
    if meter == "each event":
        cost += prompt + ended.output_tokens
    return cost + 4 * begun.cache_read_input_tokens * (meter == "the cache twice")


def agent_with(meter: Meter) -> Any:
    """An agent that ends a turn once its budget is spent."""

    def agent(brief: Any) -> None:
        client, tools = brief.anthropic(), {tool.name: tool for tool in brief.tools}
        offered = [{"name": t.name, "input_schema": t.input_schema} for t in brief.tools]
        said: list[Any] = []
        spent = 0

        def ask() -> Any:
            nonlocal spent
            with client.messages.stream(
                model="any", max_tokens=500, messages=said, tools=offered
            ) as stream:
                kinds = {"message_start": "message", "message_delta": ""}
                events = [event for event in stream if event.type in kinds]
                whole = stream.get_final_message()
            usages = [events[0].message.usage, events[-1].usage]
            spent += _cost(usages, meter)
            said.append({"role": "assistant", "content": [b.model_dump() for b in whole.content]})
            return whole

        for message in brief.inbox():
            spent = spent if meter == "all turns" else 0
            said.append({"role": "user", "content": message.text})
            while (whole := ask()).stop_reason == "tool_use" and spent < BUDGET:
                found = [
                    {
                        "type": "tool_result",
                        "tool_use_id": b.id,
                        "content": tools[b.name].call(b.input, id=b.id),
                    }
                    for b in whole.content
                    if b.type == "tool_use"
                ]
                said.append({"role": "user", "content": found})
            if whole.stop_reason == "tool_use":
                said.append(
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "tool_result",
                                "tool_use_id": b.id,
                                "content": "not run",
                                "is_error": True,
                            }
                            for b in whole.content
                            if b.type == "tool_use"
                        ],
                    }
                )
                text = "I stopped: the budget of this turn is spent."
                said.append({"role": "assistant", "content": text})
                brief.send(text, in_reply_to=message.id, status="limit")
            else:
                brief.send(whole.content[-1].text, in_reply_to=message.id)

    return agent


def _found(meter: Meter, rounds: int) -> list[tuple[str, str]]:
    looks = [Turn(use="look", input={"page": n}, usage=COSTS, optional=True) for n in range(rounds)]
    done = Turn(say="That is all.", usage=COSTS, optional=True)
    scenario = Scenario(
        name="metered",
        policy="open",
        stream=True,
        inbox=(InboxItem(text="Read the first book."), InboxItem(text="And the second one?")),
        script=(*looks, done, *looks, done),
        tools={"look": ToolScript(script=tuple(ToolTurn(ok=f"page {n}") for n in range(99)))},
        profile=Profile(checks={"budget_ceiling": {"tokens": BUDGET}}),
    )
    failing = run(scenario, agent_with(meter)).verdict.failing
    return [(finding.code, finding.message) for finding in failing if not finding.follows]


@pytest.mark.parametrize("rounds", [5, 14])
def test_an_agent_that_counts_rightly_may_end_at_its_budget(rounds: int) -> None:
    assert _found("right", rounds) == []


@pytest.mark.parametrize("meter", ["each event", "the cache twice", "all turns"])
def test_an_agent_whose_meter_runs_ahead_stops_too_early(meter: Meter) -> None:
    (code, message), *_ = _found(meter, 6)
    assert code == "no_false_stop.ended"
    assert "of 30,000 tokens" in message
