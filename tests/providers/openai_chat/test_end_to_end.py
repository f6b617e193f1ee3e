"""Small agents on the official client: both transports, plain and streamed, sync and async."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import openai
import pytest

from harness.core.history.events import Called
from harness.core.history.history import canonical
from harness.core.scenario.scenario import Expect, InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.runner import run

Row = dict[str, Any]


def scenario(stream: bool, dialect: str = "strict") -> Scenario:
    """A question that takes two tools at once, and one that takes none."""
    return Scenario(
        name="weather",
        wire="openai-chat",
        dialect=dialect,
        stream=stream,
        tools={
            name: ToolScript(description=name, script=(ToolTurn(ok=f"{name}: 7"),))
            for name in ("wind", "rain")
        },
        inbox=(InboxItem(id="m1", text="Oslo?"), InboxItem(id="m2", text="Thanks!")),
        script=(
            Turn(
                say="Let me look.",
                blocks=tuple(
                    {"type": "tool_use", "id": f"call_{name}", "name": name, "input": {"at": "é"}}
                    for name in ("wind", "rain")
                ),
            ),
            Turn(say="Windy, and 7 mm of rain."),
            Turn(say="You are welcome."),
        ),
        expect=Expect(outcome="completed"),
    )


def tools_of(brief: Any) -> list[Row]:
    """The tools as the API wants them."""
    return [
        {"type": "function", "function": {"name": tool.name, "parameters": tool.input_schema}}
        for tool in brief.tools
    ]


def row_of(message: Any) -> Row:
    """An answer as a row of the next request."""
    calls = [call.model_dump(exclude_none=True) for call in message.tool_calls or ()]
    row = {"role": "assistant", "content": message.content}
    return {**row, "tool_calls": calls} if calls else row


def results_of(brief: Any, message: Any) -> list[Row]:
    """A row for each call of an answer."""
    tools = {tool.name: tool for tool in brief.tools}
    made = []
    for call in message.tool_calls or ():
        said = tools[call.function.name].call(json.loads(call.function.arguments), id=call.id)
        made.append({"role": "tool", "tool_call_id": call.id, "content": said})
    return made


def plain_agent(brief: Any) -> None:
    """Asks and waits for whole answers, or puts them together with the client's own helper."""
    client, rows = brief.openai(), [{"role": "system", "content": "Be brief."}]
    for inbound in brief.inbox():
        rows.append({"role": "user", "content": inbound.text})
        while True:
            asked = {"model": "m", "messages": rows, "tools": tools_of(brief)}
            if brief.options["stream"]:
                with client.chat.completions.stream(**asked) as stream:
                    message = stream.get_final_completion().choices[0].message
            else:
                message = client.chat.completions.create(**asked).choices[0].message
            rows.append(row_of(message))
            if not message.tool_calls:
                break
            rows += results_of(brief, message)
        brief.send(message.content, in_reply_to=inbound.id)


async def async_agent(brief: Any) -> None:
    """The same with the asynchronous client."""
    client, rows = brief.async_openai(), [{"role": "system", "content": "Be brief."}]
    for inbound in brief.inbox():
        rows.append({"role": "user", "content": inbound.text})
        while True:
            asked = {"model": "m", "messages": rows, "tools": tools_of(brief)}
            if brief.options["stream"]:
                async with client.chat.completions.stream(**asked) as stream:
                    message = (await stream.get_final_completion()).choices[0].message
            else:
                message = (await client.chat.completions.create(**asked)).choices[0].message
            rows.append(row_of(message))
            if not message.tool_calls:
                break
            rows += results_of(brief, message)
        brief.send(message.content, in_reply_to=inbound.id)


takes_any_tool = pytest.mark.skipif(
    int(openai.__version__.partition(".")[0]) < 3,
    reason="the helper for streams takes strict tools alone before openai 3",
)


@pytest.mark.parametrize(
    ("agent", "stream"),
    [
        (plain_agent, False),
        (plain_agent, True),
        (async_agent, False),
        pytest.param(async_agent, True, marks=takes_any_tool),
    ],
)
def test_both_transports_tell_one_history(agent: Callable[[Any], Any], stream: bool) -> None:
    inside, outside = (run(scenario(stream), agent, world=w) for w in ("simulate", "supervise"))
    for done in (inside, outside):
        assert [f"{f.code}: {f.message}" for f in done.verdict.findings] == []
        assert done.verdict.verdict == "pass"
    assert canonical(inside.history) == canonical(outside.history)


@pytest.mark.parametrize("stream", [False, True])
def test_each_request_names_what_it_keeps_of_the_last(stream: bool) -> None:
    history = run(scenario(stream), plain_agent).history
    calls = [e for e in history.events if isinstance(e, Called) and e.seam == "model"]
    assert [call.request.keep for call in calls] == [0, 2, 5]  # type: ignore[union-attr]
    assert [len(call.request.messages) for call in calls] == [2, 3, 2]  # type: ignore[union-attr]
    assert len({call.request.system for call in calls}) == 1  # type: ignore[union-attr]


def forgetful(brief: Any) -> None:
    """Leaves the results out."""
    client, rows, tools = brief.openai(), [], tools_of(brief)
    for inbound in brief.inbox():
        rows.append({"role": "user", "content": inbound.text})
        asked = client.chat.completions.create(model="m", messages=rows, tools=tools)
        rows.append(row_of(asked.choices[0].message))
        try:
            client.chat.completions.create(model="m", messages=[*rows, rows[0]], tools=tools)
        except openai.BadRequestError as error:
            brief.send(error.message, kind="error", in_reply_to=inbound.id)
            return


def test_an_agent_that_breaks_the_pairing_is_refused_and_found_out() -> None:
    verdict = run(scenario(False, "openai-chat"), forgetful).verdict
    assert "valid_request.C1" in {finding.code for finding in verdict.findings}
    assert verdict.verdict == "fail"
