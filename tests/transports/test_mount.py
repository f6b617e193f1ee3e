"""Agents with a hard-coded URL: the mounted transport serves them, or refuses to start."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

import anthropic
import httpx
import httpx2
import pytest

from harness.clock import RealClock
from harness.core.history.history import canonical
from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, Turn
from harness.core.values.errors import HarnessError, InputError
from harness.runner import Run, run
from harness.transports import mount as mount_module
from harness.transports.dispatcher import Dispatcher
from harness.transports.mount import mounted
from tests.transports.world import transition

PROVIDER = "https://api.anthropic.com"
BODY = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}


def served(*turns: Turn) -> Dispatcher:
    return Dispatcher(transition(*turns), RealClock())


def post_sync(library: Any, url: str) -> Any:
    with library.Client() as client:
        return client.post(url, json=BODY)


def post_async(library: Any, url: str) -> Any:
    async def send() -> Any:
        async with library.AsyncClient() as client:
            return await client.post(url, json=BODY)

    return asyncio.run(send())


@pytest.mark.parametrize("library", [httpx, httpx2])
@pytest.mark.parametrize("post", [post_sync, post_async])
@pytest.mark.parametrize("below", ["", "/llm/anthropic"])
def test_every_client_of_both_libraries_is_met(
    library: Any, post: Callable[..., Any], below: str
) -> None:
    this = served(Turn(say="hello"))
    with mounted(this, [f"https://gateway.invalid{below}"]):
        answer = post(library, f"https://gateway.invalid{below}/v1/messages")
    assert type(answer) is library.Response
    assert answer.json()["content"] == [{"type": "text", "text": "hello"}]
    assert this.transition.history.past.calls["model"] == 1


def test_a_client_without_a_key_finds_one_while_it_is_mounted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "mine")
    with mounted(served(Turn(say="hello")), [PROVIDER]):
        reply = anthropic.Anthropic().messages.create(
            model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}]
        )
        assert reply.content[0].to_dict()["text"] == "hello"
        assert os.environ["OPENAI_API_KEY"] == "mine"
    assert "ANTHROPIC_API_KEY" not in os.environ


@pytest.mark.parametrize("library", [httpx, httpx2])
@pytest.mark.parametrize("post", [post_sync, post_async])
def test_other_urls_go_where_they_went(library: Any, post: Callable[..., Any]) -> None:
    this = served(Turn(say="hello"))
    with mounted(this, [PROVIDER]), pytest.raises(library.ConnectError):
        post(library, "http://127.0.0.1:1/v1/messages")
    assert this.transition.history.past.calls["model"] == 0


def test_a_client_made_before_is_met_and_let_go_after() -> None:
    this = served(Turn(say="hello"))
    with httpx2.Client() as client:
        with mounted(this, ["http://127.0.0.1:1"]):
            assert client.post("http://127.0.0.1:1/v1/messages", json=BODY).status_code == 200
        with pytest.raises(httpx2.ConnectError):
            client.post("http://127.0.0.1:1/v1/messages", json=BODY)


@pytest.mark.parametrize("target", ["httpx2.HTTPTransport", "httpx.AsyncHTTPTransport"])
def test_a_client_that_is_not_seen_means_that_nothing_runs(
    monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    mocker = mount_module._mocker()
    monkeypatch.setattr(mocker, "targets", [t for t in mocker.targets if t != target])
    library, _, transport = target.partition(".")
    client = "AsyncClient" if transport.startswith("Async") else "Client"
    with (
        pytest.raises(HarnessError, match=rf"does not see {library}\.{client}: its canary"),
        mounted(served(), [PROVIDER]),
    ):
        pytest.fail("it started")


@pytest.mark.parametrize("url", ["api.anthropic.com", "ftp://x/", "https://", ""])
def test_what_is_no_url(url: str) -> None:
    with pytest.raises(InputError, match="no URL"), mounted(served(), [url]):
        pytest.fail("it started")


def agent(brief: Any) -> None:
    """With the option `own` it knows nothing of the brief's clients."""
    own = brief.options.get("own")
    client = anthropic.Anthropic(api_key="x", base_url=PROVIDER) if own else brief.anthropic()
    for inbound in brief.inbox():
        content = inbound.text
        reply = client.messages.create(
            model="m", max_tokens=9, messages=[{"role": "user", "content": content}]
        )
        block = reply.content[0]
        assert isinstance(block, anthropic.types.TextBlock)
        brief.send(block.text, in_reply_to=inbound.id)


def played(fault: FaultSpec, **options: Any) -> Run:
    scenario = Scenario(
        name="mounted",
        inbox=(InboxItem(text="hi"),),
        script=(Turn(say="hello"),),
        faults=(fault,),
    )
    return run(scenario, agent, options=options)


@pytest.mark.parametrize(
    "fault",
    [
        FaultSpec(kind="http.status"),
        FaultSpec(kind="transport.reset_before_headers"),
        FaultSpec(kind="transport.latency", settings={"wait_s": 3}),
        FaultSpec(kind="transport.headers_never_come", settings={"wait_s": 100}),
    ],
    ids=lambda fault: fault.kind,
)
def test_one_fault_is_one_history_mounted_or_handed_over(fault: FaultSpec) -> None:
    here, there = played(fault), played(fault, own=True, mount=True)
    assert here.verdict.verdict == there.verdict.verdict == "pass", there.verdict.findings
    assert canonical(here.history) == canonical(there.history)


def test_without_a_mount_the_agent_is_told_apart() -> None:
    done = played(FaultSpec(kind="http.status", must_fire=False), own=True)
    codes = {finding.code for finding in done.verdict.findings}
    assert {"run.nothing_intercepted", "run.live_socket"} <= codes
