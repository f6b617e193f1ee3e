"""The simulated world: how targets end, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import msgspec
import pytest

from harness.core.history.events import Answered, Ended, Started
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Limits,
    Scenario,
    ToolScript,
    Turn,
)
from harness.runner import Run, run
from tests.runner import agents

HELLO = Scenario(
    name="hello", inbox=(InboxItem(text="hello"),), script=(Turn(say="Hello to you."),)
)


def _codes(result: Run) -> list[str]:
    return [f.code for f in result.verdict.findings]


def _ended(result: Run) -> Ended:
    last = result.history.events[-1]
    assert isinstance(last, Ended)
    return last


class Wordless(Exception):
    """An exception that cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_a_target_that_crashes_without_a_word_is_the_targets_crash() -> None:
    def crash(brief: object) -> None:
        raise Wordless

    ended = _ended(run(HELLO, crash))
    assert (ended.how, ended.text) == (
        "crashed",
        "Wordless: (its text raises, too) (in crash)",
    )


@pytest.mark.parametrize("agent", [agents.greet, agents.greet_async])
def test_an_agent_that_answers_passes(agent: Callable[..., Any]) -> None:
    result = run(HELLO, agent)
    assert _codes(result) == []
    assert result.verdict.outcome == "completed"
    assert _ended(result).how == "returned"


def test_async_waits_pass_on_the_virtual_clock() -> None:
    result = run(HELLO, agents.greet_async)
    answered = [e for e in result.history.events if isinstance(e, Answered) and e.seam == "model"]
    assert answered[0].at_ms == 60_000


def test_a_crash_is_data() -> None:
    result = run(HELLO, agents.crash)
    assert "target.crashed" in _codes(result)
    assert _ended(result).text == "ValueError: the disk is on fire (in crash)"


def test_an_exit_status_is_a_crash() -> None:
    result = run(HELLO, agents.leave)
    assert (_ended(result).how, _ended(result).exit_code) == ("crashed", 3)


def test_never_calling_the_model_is_a_finding() -> None:
    assert "run.nothing_intercepted" in _codes(run(HELLO, agents.never_calls))


@pytest.mark.parametrize(
    ("wire", "path", "step"),
    [
        ("openai-chat", "/chat/completions", "add /v1 to the base URL that"),
        ("openai-chat", "/v1/v1/chat/completions", "leave /v1 out of the base URL"),
        ("openai-chat", "/v1/messages", "is played with --wire anthropic"),
        ("openai-responses", "/responses", "add /v1 to the base URL that"),
        ("anthropic", "/v1/v1/messages", "leave /v1 out of the base URL"),
        ("anthropic", "/v1beta/models/m:generateContent", "is played with --wire gemini"),
    ],
)
def test_an_agent_that_asks_at_another_path_is_told_the_path_and_the_next_step(
    wire: str, path: str, step: str
) -> None:
    answers = []

    def asks(brief: Any) -> None:
        with httpx2.Client(transport=brief.transport, base_url=brief.base_url) as client:
            answers.append(client.post(path, json={}).text)

    found = run(msgspec.structs.replace(HELLO, wire=wire), asks).verdict.findings
    (message,) = (f.message for f in found if f.code == "run.nothing_intercepted")
    assert message.startswith(f"the agent asked for {path}, which this run does not serve: ")
    assert step in message
    assert step in answers[0]


def test_a_path_of_no_model_names_no_step() -> None:
    def asks(brief: Any) -> None:
        with httpx2.Client(transport=brief.transport, base_url=brief.base_url) as client:
            client.post("/v1/embeddings", json={})

    found = run(HELLO, asks).verdict.findings
    (message,) = (f.message for f in found if f.code == "run.nothing_intercepted")
    assert message.startswith("the target never called the model through the harness")


def test_calls_elsewhere_are_refused_and_found() -> None:
    result = run(HELLO, agents.calls_elsewhere)
    assert {"run.nothing_intercepted", "run.live_socket"} <= set(_codes(result))
    assert _ended(result).live_sockets == ("127.0.0.1:9",)


def test_calling_for_ever_meets_the_limit_and_is_stopped() -> None:
    scenario = msgspec.structs.replace(HELLO, limits=Limits(model_calls=5))
    result = run(scenario, agents.never_stops)
    assert _ended(result).how == "limit"
    assert "limit.model_calls" in _codes(result)
    assert result.verdict.outcome == "limit"


def test_waiting_for_ever_meets_the_limit_on_virtual_time() -> None:
    result = run(HELLO, agents.waits_a_day)
    assert _ended(result).how == "limit"
    assert _ended(result).at_ms == 86_400_000


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"script": (Turn(say="Hello to you."), Turn(say="More."))}, "run.unplayed_turn"),
        ({"faults": (FaultSpec(kind="http.status", when=9),)}, "run.silent_fault"),
        (
            {"inbox": (InboxItem(text="hello"), InboxItem(when={"after": "model#9"}))},
            "run.unplayed_message",
        ),
        ({"script": ()}, "script.exhausted"),
    ],
)
def test_false_greens_are_failures(changes: dict[str, Any], code: str) -> None:
    result = run(msgspec.structs.replace(HELLO, **changes), agents.greet)
    assert code in _codes(result)
    assert result.verdict.verdict == "fail"


def test_the_sdk_s_own_back_off_passes_at_once_and_is_recorded() -> None:
    scenario = msgspec.structs.replace(
        HELLO,
        faults=(
            FaultSpec(kind="http.status", when=1, settings={"status": 529, "retry_after": 30}),
            FaultSpec(kind="http.status", when=2, settings={"status": 429, "retry_after": 3600}),
        ),
    )
    result = run(scenario, agents.greet)
    answered = [e for e in result.history.events if isinstance(e, Answered) and e.seam == "model"]
    assert [e.status for e in answered] == [529, 429, 200]
    assert [e.at_ms for e in answered] == [0, 30_000, 3_630_000]


def test_a_read_time_out_of_the_client_passes_at_once() -> None:
    scenario = msgspec.structs.replace(
        HELLO, faults=(FaultSpec(kind="transport.headers_never_come", when=1),)
    )
    result = run(scenario, agents.greet)
    answered = [e for e in result.history.events if isinstance(e, Answered) and e.seam == "model"]
    assert [e.outcome for e in answered] == ["timeout", "ok"]
    assert answered[1].at_ms >= 600_000


def test_the_run_says_what_ran() -> None:
    started = run(HELLO, agents.greet, seed=11).history.events[0]
    assert isinstance(started, Started)
    assert (started.v, started.run, started.seed, started.world) == (2, "hello", 11, "simulate")
    assert started.target.endswith(":greet")
    assert "anthropic" in started.versions


class AsyncCallable:
    """An agent that is an object with an asynchronous call."""

    async def __call__(self, brief: Any) -> None:
        """Serve the brief."""
        await agents.greet_async(brief)


@pytest.mark.parametrize("agent", [AsyncCallable(), lambda brief: agents.greet_async(brief)])
def test_whatever_is_awaitable_is_awaited(agent: Callable[..., Any]) -> None:
    result = run(HELLO, agent)
    assert _codes(result) == []
    assert result.verdict.outcome == "completed"


def _own_tool(brief: Any) -> None:
    """Runs its own tool, which has the name of one of the scenario's, and never asks for those."""
    client, rows = brief.anthropic(), list[Any]()
    for message in brief.inbox():
        rows.append({"role": "user", "content": message.text})
        for n in range(4):
            reply = client.messages.create(model="any", max_tokens=99, messages=rows, tools=[OWN])
            rows.append({"role": "assistant", "content": reply.content})
            if reply.stop_reason != "tool_use":
                break
            done = {"type": "tool_result", "tool_use_id": reply.content[0].id, "content": f"{n}"}
            rows.append({"role": "user", "content": [done]})
        brief.send(reply.content[0].text, in_reply_to=message.id)


OWN: dict[str, Any] = {"name": "poll", "input_schema": {"type": "object", "properties": {}}}


def test_a_tool_of_the_agents_own_is_no_refusal_of_the_scenarios() -> None:
    polls = msgspec.structs.replace(
        HELLO, tools={"poll": ToolScript()}, script=(Turn(use="poll", times=3), Turn(say="Done."))
    )
    own = run(polls, _own_tool)
    assert (_codes(own), _ended(own).tools_untaken) == ([], True)
    assert not _ended(run(polls, "reference")).tools_untaken
