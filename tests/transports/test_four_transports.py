"""One scenario and one fault, through four transports: one canonical history."""

from __future__ import annotations

from typing import Any

import anthropic
import httpx
import httpx2
import msgspec
import pytest

from harness.core.history.events import Answered
from harness.core.history.history import canonical
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.runner import Run, run

PROVIDER = "https://api.anthropic.com"
SCENARIO = Scenario(
    name="four-transports",
    inbox=(InboxItem(text="look"),),
    tools={"look": ToolScript(script=(ToolTurn(ok="a cat", times="forever"),))},
    script=(Turn(say="I look.", use="look", input={"where": "there"}), Turn(say="A cat.")),
)
FAULTS = [
    FaultSpec(kind="http.status", when=2),
    FaultSpec(kind="http.status", settings={"status": 503, "page": True}),
    FaultSpec(kind="transport.reset_before_headers", when=2),
    FaultSpec(kind="transport.close_before_headers"),
    FaultSpec(kind="transport.reset_mid_stream", settings={"after": 2}, must_fire=False),
    FaultSpec(kind="sse.no_message_stop", when=2, must_fire=False),
    FaultSpec(kind="sse.error_event", must_fire=False),
]
TRANSPORTS = ("httpx2", "httpx", "mounted", "loopback")
FAILURES = (anthropic.APIError, httpx.HTTPError, httpx2.HTTPError, ValueError, AssertionError)


def played(transport: str, scenario: Scenario) -> Run:
    world = "supervise" if transport == "loopback" else "simulate"
    options = {"transport": transport, **({"mount": True} if transport == "mounted" else {})}
    return run(scenario, agent, world=world, options=options)  # type: ignore[arg-type]


def client(brief: Any) -> Any:
    """A client without an SDK, so that each transport can be met with either library."""
    match brief.options["transport"]:
        case "httpx":
            return httpx.Client(transport=brief.transport, base_url=PROVIDER)
        case "httpx2":
            return httpx2.Client(transport=brief.transport, base_url=PROVIDER)
        case "mounted":
            return httpx2.Client(base_url=PROVIDER)
    return httpx2.Client(base_url=brief.base_url)


def agent(brief: Any) -> None:
    """Asks twice at most for every step, and reads streams by the SDK's own parser."""
    (tool,) = brief.tools
    http = client(brief)
    for inbound in brief.inbox():
        messages: list[dict[str, Any]] = [{"role": "user", "content": inbound.text}]
        first = asked(brief, http, messages)
        for use in (block for block in first if block["type"] == "tool_use"):
            messages += [
                {"role": "assistant", "content": first},
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": use["id"],
                            "content": tool.call(use["input"], id=use["id"]),
                        }
                    ],
                },
            ]
            first = asked(brief, http, messages)
        text = "".join(block.get("text", "") for block in first)
        brief.send(text or "It failed.", in_reply_to=inbound.id)


def asked(brief: Any, http: Any, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    stream = brief.options["stream"]
    body = {"model": "m", "max_tokens": 99, "messages": messages, "stream": stream}
    tools = [{"name": "look", "input_schema": {"type": "object"}}]
    for _ in range(2):
        try:
            answer = http.post("/v1/messages", json={**body, "tools": tools})
            answer.raise_for_status()
            return parsed(answer.text) if stream else answer.json()["content"]
        except FAILURES:
            brief.clock.sleep(0.15)
    return []


def parsed(text: str) -> list[dict[str, Any]]:
    from harness.providers.anthropic.provider import AnthropicProvider

    found = AnthropicProvider().parse(text.encode(), "text/event-stream")
    if "event: message_stop" not in text or not found.complete or found.message is None:
        raise ValueError("a stream that just ends")
    blocks: list[dict[str, Any]] = []
    for block in found.message.blocks:
        fields = {name: getattr(block, name) for name in ("text", "id", "name", "input")
                  if hasattr(block, name)}  # fmt: skip
        blocks.append({"type": "tool_use" if "input" in fields else "text", **fields})
    return blocks


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.kind)
def test_the_history_is_the_same_four_times(fault: FaultSpec, stream: bool) -> None:
    scenario = msgspec.structs.replace(SCENARIO, faults=(fault,), stream=stream)
    runs = {transport: played(transport, scenario) for transport in TRANSPORTS}
    met = {transport: done.verdict.verdict for transport, done in runs.items()}
    assert set(met.values()) == {"pass"}, {d: r.verdict.findings for d, r in runs.items()}
    hits = [event.faults for event in runs["httpx2"].history.events if isinstance(event, Answered)]
    assert ((fault.kind,) in hits) == (fault.must_fire or stream)
    histories = {canonical(done.history) for done in runs.values()}
    assert len(histories) == 1
