"""Agents on other HTTP libraries: requests, urllib3 and aiohttp, through the loopback transport."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import aiohttp
import pytest
import requests
import urllib3

from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, Turn
from harness.runner import Run, run

SCENARIO = Scenario(
    name="other-clients",
    inbox=(InboxItem(text="hi"), InboxItem(text="and again")),
    script=(Turn(say="hello", times=2),),
)
Post = Callable[[str, dict[str, Any]], bytes]


class Broken(Exception):
    """What a library makes of a call that came to nothing."""


def by_requests(url: str, body: dict[str, Any]) -> bytes:
    try:
        answer = requests.post(url, json=body, timeout=20)
        answer.raise_for_status()
    except requests.RequestException as error:
        raise Broken(type(error).__name__) from error
    return answer.content


def by_urllib3(url: str, body: dict[str, Any]) -> bytes:
    with urllib3.PoolManager(retries=False) as pool:
        try:
            answer = pool.request("POST", url, json=body)
        except urllib3.exceptions.HTTPError as error:
            raise Broken(type(error).__name__) from error
    if answer.status >= 400:
        raise Broken("HTTPError")
    return answer.data


def by_aiohttp(url: str, body: dict[str, Any]) -> bytes:
    async def post() -> bytes:
        async with (
            aiohttp.ClientSession(raise_for_status=True) as session,
            session.post(url, json=body) as answer,
        ):
            return await answer.read()

    try:
        return asyncio.run(post())
    except aiohttp.ClientError as error:
        raise Broken(type(error).__name__) from error


CLIENTS = pytest.mark.parametrize("post", [by_requests, by_urllib3, by_aiohttp])


def texts(body: bytes) -> Iterator[str]:
    """The text of an answer, a JSON message or a stream."""
    if body.startswith(b"{"):
        yield json.loads(body)["content"][0]["text"]
        return
    for line in body.decode().splitlines():
        if line.startswith("data: "):
            yield json.loads(line[6:]).get("delta", {}).get("text", "")


def played(post: Post, *, stream: bool = False, fault: FaultSpec | None = None) -> Run:
    def agent(brief: Any) -> None:
        messages: list[dict[str, Any]] = []
        for inbound in brief.inbox():
            messages.append({"role": "user", "content": inbound.text})
            body = {"model": "m", "max_tokens": 9, "messages": messages, "stream": stream}
            for _ in range(2):
                try:
                    said = "".join(texts(post(f"{brief.base_url}/v1/messages", body)))
                    break
                except Broken as error:
                    met.append(str(error))
                    brief.clock.sleep(0.15)
            messages.append({"role": "assistant", "content": said})
            brief.send(said, in_reply_to=inbound.id)

    met: list[str] = []
    scenario = Scenario(
        name=SCENARIO.name,
        inbox=SCENARIO.inbox,
        script=SCENARIO.script,
        faults=(fault,) if fault else (),
    )
    done = run(scenario, agent, world="supervise")
    assert done.verdict.verdict == "pass", (done.verdict, met)
    done.history.values["met"] = met
    return done


@CLIENTS
@pytest.mark.parametrize("stream", [False, True])
def test_a_client_is_answered(post: Post, stream: bool) -> None:
    assert played(post, stream=stream).history.past.calls["model"] == 2


@CLIENTS
@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("http.status", {"HTTPError", "ClientResponseError"}),
        (
            "transport.reset_before_headers",
            {"ConnectionError", "ProtocolError", "ClientOSError", "ServerDisconnectedError"},
        ),
        (
            "transport.close_before_headers",
            {"ConnectionError", "ProtocolError", "ServerDisconnectedError"},
        ),
    ],
)
def test_a_fault_is_the_library_own_error(post: Post, kind: str, names: set[str]) -> None:
    done = played(post, fault=FaultSpec(kind=kind))
    (met,) = done.history.values["met"]
    assert met in names
