"""An agent's own meter of tokens: one that counts twice, or never begins again, stops too early."""

from __future__ import annotations

from collections.abc import Callable
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


class _Metered:
    """An agent that ends a turn once its budget is spent."""

    def __init__(self, brief: Any, meter: Meter) -> None:
        self.brief, self.meter, self.client = brief, meter, brief.anthropic()
        self.tools = {tool.name: tool for tool in brief.tools}
        self.said: list[Any] = []
        self.spent = 0

    def run(self) -> None:
        """Answer each message."""
        for message in self.brief.inbox():
            self.spent = self.spent if self.meter == "all turns" else 0
            self.said.append({"role": "user", "content": message.text})
            while (whole := self.ask()).stop_reason == "tool_use" and self.spent < BUDGET:
                self.answer(whole, lambda b: self.tools[b.name].call(b.input, id=b.id))
            text, status = whole.content[-1], None
            if whole.stop_reason == "tool_use":
                self.answer(whole, lambda _: "It was not run.")
                status = "limit"
            told = "I stopped: the budget is spent." if status else text.text
            self.said += [{"role": "assistant", "content": told}] if status else []
            self.brief.send(told, in_reply_to=message.id, status=status)

    def ask(self) -> Any:
        """Ask the model, and count what its stream says of the cost."""
        tools = [{"name": t.name, "input_schema": t.input_schema} for t in self.tools.values()]
        with self.client.messages.stream(
            model="any", max_tokens=500, messages=self.said, tools=tools
        ) as stream:
            kinds = ("message_start", "message_delta")
            events = [event for event in stream if event.type in kinds]
            whole = stream.get_final_message()
        self.spent += _cost([events[0].message.usage, events[-1].usage], self.meter)
        blocks = [block.model_dump() for block in whole.content]
        self.said.append({"role": "assistant", "content": blocks})
        return whole

    def answer(self, whole: Any, result: Callable[[Any], str]) -> None:
        """Give each call of an answer its result."""
        calls = [block for block in whole.content if block.type == "tool_use"]
        found = [{"type": "tool_result", "tool_use_id": b.id, "content": result(b)} for b in calls]
        self.said.append({"role": "user", "content": found})


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
    failing = run(scenario, lambda brief: _Metered(brief, meter).run()).verdict.failing
    return [(finding.code, finding.message) for finding in failing if not finding.follows]


@pytest.mark.parametrize("rounds", [5, 14])
def test_an_agent_that_counts_rightly_may_end_at_its_budget(rounds: int) -> None:
    assert _found("right", rounds) == []


@pytest.mark.parametrize("meter", ["each event", "the cache twice", "all turns"])
def test_an_agent_whose_meter_runs_ahead_stops_too_early(meter: Meter) -> None:
    (code, message), *_ = _found(meter, 6)
    assert code == "no_false_stop.ended"
    assert "of 30,000 tokens" in message
