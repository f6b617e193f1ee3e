"""Agents that call a model by its URL, a model that says what it is told, and what was recorded."""

from __future__ import annotations

import json
from pathlib import Path

from harness.cassettes.cassette_file import read_cassette
from tests.cassettes.recorded import said
from tests.transports.upstreams import whole

URL_AGENTS = """
import json, os, sys, urllib.request

def ask(url, text, **more):
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": text}], **more}
    headers = {"x-api-key": "sk-harness-dummy", "content-type": "application/json"}
    request = urllib.request.Request(url + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())["content"][0]["text"]

def good(brief):
    print("the agent prints")
    for inbound in brief.inbox():
        brief.send(ask(brief.base_url, inbound.text))

def with_tools(brief):
    for inbound in brief.inbox():
        brief.send(ask(brief.base_url, brief.tools[0].call({}, id=inbound.id)))

def crashing(brief):
    ask(brief.base_url, "one")
    raise ValueError("the agent's own mistake")

def leaking(brief):
    ask(brief.base_url, "the key is " + os.environ["MY_TOKEN"])

def silent(brief):
    pass

def looping(brief):
    for _ in range(60):
        ask(brief.base_url, "again")

def waiting(brief):
    ask(brief.base_url, "one")
    print("ready", file=sys.stderr, flush=True)
    while True:
        pass
"""


def echo(body: bytes) -> bytes:
    """A model that says what it is told."""
    return whole(json.dumps(said(json.loads(body)["messages"][-1]["content"])).encode())


def recorded(path: Path) -> list[str]:
    """The last words of each recorded request."""
    found = [json.loads(exchange.body) for exchange in read_cassette(path)]
    return [str(body["messages"][-1]["content"]) for body in found]
