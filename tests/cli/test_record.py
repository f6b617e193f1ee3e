"""`harness record` as a user meets it: a loopback provider, and agents in two languages."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml

from harness.cassettes.cassette_file import read_cassette
from tests.cassettes.recorded import said
from tests.cli.conftest import Harness
from tests.cli.url_agents import echo, recorded
from tests.runner.programs import PRELUDE
from tests.transports.upstreams import answering, upstream, whole

KEY = "an-opaque-key-of-the-provider"
NODE_AGENT = Path(__file__).parents[2] / "examples/node_agent.mjs"


def test_a_prompt_is_recorded_and_played(url_agents: Path, harness: Harness) -> None:
    words = ["record", "x.yaml", "--target", "agents:good", "--prompt", "Hello?"]
    heard: list[bytes] = []
    with upstream(whole(json.dumps(said("Hi.")).encode()), heard=heard) as url:
        done = harness(*words, "--upstream", url, ANTHROPIC_API_KEY=KEY)
    assert (done.returncode, done.stdout) == (0, "x.yaml: 1 call, 1 kB\n"), done.stderr
    assert "the agent prints" in done.stderr
    assert f"x-api-key: {KEY}".encode() in heard[0].lower()
    assert KEY not in (url_agents / "x.yaml").read_text()
    assert recorded(url_agents / "x.yaml") == ["Hello?"]
    played = {"name": "played", "inbox": "Hello?", "script": {"cassette": "x.yaml"}}
    (url_agents / "played.yaml").write_text(yaml.dump(played))
    again = harness("run", "played.yaml", "--target", "agents:good", "--world", "supervise")
    assert again.returncode == 0, again.stdout


def test_a_scenario_gives_inbox_and_tools(url_agents: Path, harness: Harness) -> None:
    tools = {"weather": {"script": [{"ok": "Sunny in Oslo.", "times": "forever"}]}}
    inbox = ["weather?", "and tomorrow?"]
    scenario = {
        "name": "weather",
        "inbox": [{"text": text} for text in inbox],
        "tools": tools,
        "script": {"cassette": "cassettes/not-there-yet.yaml"},
        "faults": [{"kind": "http.overloaded"}],
    }
    (url_agents / "weather.yaml").write_text(yaml.dump(scenario))
    with answering(echo) as url:
        done = harness(
            "record", "cassettes/x.yaml", "--scenario", "weather.yaml", "--upstream", url,
            "--target", "agents:with_tools", "--json",
        )  # fmt: skip
    row = json.loads(done.stdout)
    expected = {"cassette": "cassettes/x.yaml", "calls": 2, "ended": "returned"}
    assert {key: row[key] for key in expected} == expected
    assert done.returncode == 0
    assert recorded(url_agents / "cassettes/x.yaml") == ["Sunny in Oslo."] * 2


@pytest.mark.parametrize(("after", "due"), [("model#1", False), ("main/model#2", False),
                                             ("tool#1", True), ("inbox#1", True)])  # fmt: skip
def test_a_message_may_wait_for_every_call_but_the_models(
    url_agents: Path, harness: Harness, after: str, due: bool
) -> None:
    scenario = {
        "name": "waits",
        "inbox": [{"text": "one"}, {"id": "late", "text": "two", "when": {"after": after}}],
        "tools": {"weather": {"script": [{"ok": "sunny", "times": "forever"}]}},
        "script": [{"say": "never played"}],
    }
    (url_agents / "waits.yaml").write_text(yaml.dump(scenario))
    with answering(echo) as url:
        done = harness(
            "record", "x.yaml", "--scenario", "waits.yaml", "--upstream", url,
            "--target", "agents:with_tools",
        )  # fmt: skip
    assert done.returncode == (0 if due else 2), done.stderr
    assert (url_agents / "x.yaml").exists() == due
    if due:
        assert len(recorded(url_agents / "x.yaml")) == 2
    else:
        assert f"waits: inbox message late: waits for {after}, and the real model's" in done.stderr


def _program(folder: Path, body: str) -> str:
    path = folder / "program.py"
    path.write_text(PRELUDE + body)
    return f"process:{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


@pytest.mark.real
def test_a_program_of_any_language_is_recorded(url_agents: Path, harness: Harness) -> None:
    target = _program(url_agents, "for message in inbox(): say(message, ask(message['text']))")
    with answering(echo) as url:
        done = harness("record", "x.yaml", "--target", target, "--prompt", "Hi", "--upstream", url)
    assert done.returncode == 0, done.stderr
    assert recorded(url_agents / "x.yaml") == ["Hi"]


@pytest.mark.real
def test_node_is_recorded(url_agents: Path, harness: Harness, node: str) -> None:
    def answer(body: bytes) -> bytes:
        return whole(json.dumps(said(f"{len(json.loads(body)['messages'])} messages")).encode())

    target = f"process:{node} {shlex.quote(str(NODE_AGENT))}"
    with answering(answer) as url:
        done = harness("record", "x.yaml", "--target", target, "--prompt", "Hi", "--upstream", url)
    assert done.returncode == 0, done.stderr
    assert len(list(read_cassette(url_agents / "x.yaml"))) == 1


STRANGER = """
import os, urllib.error, urllib.request
from urllib.parse import urlsplit

def visited(brief):
    import agents
    for inbound in brief.inbox():
        server = urlsplit(brief.base_url).netloc
        headers = {"x-api-key": "sk-harness-dummy"}
        try:
            urllib.request.urlopen(
                urllib.request.Request(f"http://{server}/v1/messages", b"{}", headers)
            )
        except urllib.error.HTTPError as error:
            assert error.code == 403, error
        brief.send(agents.ask(brief.base_url, inbound.text))
"""


def test_the_terminal_tells_of_a_stranger(url_agents: Path, harness: Harness) -> None:
    (url_agents / "visitor.py").write_text(STRANGER)
    words = ["record", "x.yaml", "--target", "visitor:visited", "--prompt", "Hi", "--json"]
    with answering(echo) as url:
        done = harness(*words, "--upstream", url, ANTHROPIC_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["refused"] == 1
    assert "refused 403 POST /v1/messages: this request is refused: it is not below" in done.stderr
    assert recorded(url_agents / "x.yaml") == ["Hi"]
    files = b"".join(path.read_bytes() for path in url_agents.rglob("*") if path.is_file())
    assert re.search(rb"lhr_[0-9a-f]{32}", files + (done.stderr + done.stdout).encode()) is None
