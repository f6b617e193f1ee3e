"""Tools over MCP: the official client meets the scenario's tools, and their faults."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters, stdio_client

from harness.core.history.events import Answered, Called
from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.core.transition.transition import Transition
from harness.core.values.plans import Close, Plan, Raise, ToolAnswer
from harness.runner import run
from harness.transports.loopback import Loopback
from harness.transports.mcp_tools import content
from tests.transports.world import REQUEST, loopback, transition

PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
SCHEMA = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
TOOLS = {
    "read": ToolScript(
        description="Read a key",
        input_schema=SCHEMA,
        script=(ToolTurn(ok="value", times="forever"),),
    ),
    "fail": ToolScript(script=(ToolTurn(error="no such key", times="forever"),)),
    "raise": ToolScript(script=(ToolTurn(raises="boom", times="forever"),)),
    "see": ToolScript(script=(ToolTurn(ok=[{"type": "text", "text": "a cat"}, PNG, {"x": 1}]),)),
}
Use = Callable[[Any], Awaitable[Any]]


def over_http(server: Loopback, use: Use, **options: Any) -> Any:
    async def session() -> Any:
        async with Client(server.urls.mcp, **options) as client:
            return await use(client)

    return asyncio.run(asyncio.wait_for(session(), 60))


def over_stdio(server: Loopback, use: Use, **options: Any) -> Any:
    async def session() -> Any:
        program = StdioServerParameters(
            command=sys.executable,
            args=["-m", "harness.transports.mcp_stdio"],
            env={**os.environ, "HARNESS_TOOLS_URL": server.urls.tools},
        )
        async with Client(stdio_client(program), **options) as client:
            return await use(client)

    return asyncio.run(asyncio.wait_for(session(), 60))


WAYS = pytest.mark.parametrize("way", [over_http, over_stdio])
MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])


@WAYS
@MODES
def test_a_client_is_offered_the_tools_and_calls_them(way: Any, mode: str) -> None:
    async def use(client: Any) -> Any:
        tools = (await client.list_tools()).tools
        answers = [await client.call_tool(tool.name, {"key": "a"}) for tool in tools]
        return tools, answers

    played = transition(tools=TOOLS)
    with loopback(played) as server:
        tools, answers = way(server, use, mode=mode)
    assert [(t.name, t.description, t.input_schema) for t in tools] == [
        (name, tool.description, tool.input_schema) for name, tool in TOOLS.items()
    ]
    read, failed, raised, seen = answers
    assert (read.is_error, read.content[0].text) == (False, "value")
    assert (failed.is_error, failed.content[0].text) == (True, "no such key")
    assert raised.is_error
    assert "boom" in raised.content[0].text
    assert [block.type for block in seen.content] == ["text", "image", "text"]
    assert (seen.content[1].data, seen.content[2].text) == ("aGk=", '{"x":1}')
    called = [e.request for e in played.history.events if isinstance(e, Called)]
    assert [getattr(c, "name", "") for c in called] == list(TOOLS)
    assert all(getattr(c, "input", None) == {"key": "a"} for c in called)


@WAYS
def test_a_driver_is_told_once_the_tools_were_listed(
    way: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.transports.seam_endpoints.LIST_WAIT_S", 0.2)

    async def use(client: Any) -> None:
        await client.list_tools()

    with loopback(transition(tools=TOOLS)) as server:
        url = f"{server.urls.mcp}/listed"
        assert httpx2.get(url, timeout=60).json() == {"listed": False}
        way(server, use)
        assert httpx2.get(url, timeout=60).json() == {"listed": True}
        other = url.replace("/harness/", "/s/night/harness/")
        assert httpx2.get(other, timeout=60).json() == {"listed": False}


def test_half_a_surrogate_pair_of_a_tool_crosses_as_the_escape_of_json() -> None:
    halves = ToolScript(script=(ToolTurn(ok=["caf\udce9 \U0001f600", {"x": "\ud83d"}]),))
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read"}}
    accept = {"accept": "application/json, text/event-stream"}
    with loopback(transition(tools={"read": halves})) as server:
        answer = httpx2.post(server.urls.mcp, json=call, headers=accept, timeout=60)
    assert answer.status_code == 200
    texts = [block["text"] for block in json.loads(answer.content)["result"]["content"]]
    assert texts[0] == "caf\udce9 \U0001f600"
    assert json.loads(texts[1]) == {"x": "\ud83d"}


def test_an_agent_in_virtual_time_has_the_tools_over_mcp() -> None:
    slow = ToolScript(script=(ToolTurn(hang=100.0, ok="late"), ToolTurn(raises="boom")))
    scenario = Scenario(
        name="tools-over-mcp",
        inbox=(InboxItem(text="read it"),),
        tools={"slow": slow},
        script=(Turn(use="slow", input={}), Turn(use="slow", input={}), Turn(say="It broke.")),
    )

    async def agent(brief: Any) -> None:
        model = brief.async_anthropic()
        async with Client(brief.mcp_server()) as client:
            offered = [t.model_dump(include={"name"}) for t in (await client.list_tools()).tools]
            tools = [{**tool, "input_schema": {"type": "object"}} for tool in offered]
            for inbound in brief.inbox():
                messages = [{"role": "user", "content": inbound.text}]
                while True:
                    reply = await model.messages.create(
                        model="m", max_tokens=9, messages=messages, tools=tools
                    )
                    messages.append({"role": "assistant", "content": reply.to_dict()["content"]})
                    if reply.stop_reason != "tool_use":
                        break
                    results = [
                        {
                            "type": "tool_result",
                            "tool_use_id": use.id,
                            "is_error": (answer := await client.call_tool(use.name, use.input))
                            and answer.is_error,
                            "content": answer.content[0].text,
                        }
                        for use in reply.content
                    ]
                    messages.append({"role": "user", "content": results})
                brief.send(reply.content[0].text, in_reply_to=inbound.id)

    done = run(scenario, agent)
    assert done.verdict.verdict == "pass", done.verdict.findings
    tool = [e for e in done.history.events if isinstance(e, Answered) and e.seam == "tool"]
    assert [(e.outcome, e.at_ms) for e in tool] == [("ok", 0), ("error", 100_000)]


def asked(played: Transition, server: Loopback, *names: str) -> list[str]:
    """The ids under which tool calls reached the run, after the model's answer."""
    answer = httpx2.post(
        f"{server.urls.model}/v1/messages",
        json={**REQUEST, "tools": [{"name": "read", "input_schema": {"type": "object"}}]},
    )
    assert answer.status_code == 200

    async def use(client: Any) -> None:
        for name in names:
            key, _, stated = name.partition("=")
            meta = {"toolUseId": stated} if stated else None
            await client.call_tool("read", {"key": key}, meta=meta)

    over_http(server, use)
    called = (event for event in played.history.events if isinstance(event, Called))
    return [e.request.id for e in called if e.seam == "tool"]  # type: ignore[union-attr]


def test_a_call_is_the_model_call_that_is_meant() -> None:
    uses = tuple(
        {"type": "tool_use", "id": f"toolu_{key}", "name": "read", "input": {"key": key}}
        for key in ("a", "b", "c")
    )
    played = transition(Turn(blocks=uses), tools=TOOLS)
    with loopback(played) as server:
        ids = asked(played, server, "b", "z", "c", "new", "d=toolu_own")
    assert ids == ["toolu_b", "toolu_a", "toolu_c", "call_4", "toolu_own"]


def met_by(call: Callable[[], Any]) -> str:
    """What a client meets: the text of an error result, or the exception."""
    try:
        answer = call()
    except BaseExceptionGroup as group:
        return repr(group)
    return str(answer.content[0].text) if answer.is_error else "no error"


def bent(plan: Plan) -> Callable[[Plan], Plan]:
    return lambda _: plan


@pytest.mark.parametrize(
    ("plan", "met"),
    [
        ((Raise("tool", "it broke"),), "it broke"),
        ((Close(reset=True),), "ReadError"),
        ((Close(),), "RemoteProtocolError"),
    ],
)
def test_a_fault_on_a_tool_reaches_the_client(plan: Plan, met: str) -> None:
    async def use(client: Any) -> Any:
        return await client.call_tool("read", {"key": "a"})

    played = transition(tools=TOOLS, bend=bent(plan), on="tool")
    with loopback(played) as server:
        assert met in met_by(lambda: over_http(server, use))
    answered = [e for e in played.history.events if isinstance(e, Answered) and e.seam == "tool"]
    assert [e.faults for e in answered] == [("test.bend",)]


def test_an_unknown_tool_is_an_error_that_the_history_shows() -> None:
    async def use(client: Any) -> Any:
        return await client.call_tool("raed", {})

    played = transition(tools=TOOLS)
    with loopback(played) as server:
        answer = over_http(server, use)
    assert answer.is_error
    assert "no tool 'raed'" in answer.content[0].text
    assert [e.error for e in played.history.events if isinstance(e, Answered)] == ["tool.unknown"]


@pytest.mark.parametrize(
    ("method", "body", "status"),
    [
        ("GET", b"", 405),
        ("DELETE", b"", 405),
        ("POST", b"", 400),
        ("POST", b"{", 400),
        ("POST", b"[]", 400),
        ("POST", b'{"jsonrpc":"2.0","id":1,"method":"nonsense"}', 200),
    ],
)
def test_what_is_no_mcp_is_answered_and_hurts_nobody(method: str, body: bytes, status: int) -> None:
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }
    played = transition(tools=TOOLS)
    with loopback(played) as server:
        answer = httpx2.request(method, server.urls.mcp, content=body, headers=headers)
        assert answer.status_code == status, answer.text
        assert over_http(server, lambda client: client.call_tool("read", {})).is_error is False


@pytest.mark.parametrize("url", ["", "http://127.0.0.1:1/harness/tools", "file:///etc"])
def test_the_program_without_a_run_says_so(url: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "harness.transports.mcp_stdio"],
        env={**os.environ, "HARNESS_TOOLS_URL": url},
        input=b"",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: HARNESS_TOOLS_URL: ")


def test_content_of_mcp_is_handed_on_and_what_only_looks_like_it_is_text() -> None:
    audio = {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}
    resource = {"type": "resource", "resource": {"uri": "file:///a", "text": "b"}}
    half = [{"type": "audio", "data": 5}, {"type": "resource", "resource": {"uri": "file:///a"}}]
    blocks = content(ToolAnswer([audio, resource, *half]))
    assert blocks[:2] == [audio, resource]
    assert [block["type"] for block in blocks[2:]] == ["text", "text"]
