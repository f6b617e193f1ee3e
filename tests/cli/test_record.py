"""`harness record` as a user meets it: a loopback provider, agents in two languages, every end."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml

from harness.cassettes.read import read_cassette
from tests.cassettes.recorded import said
from tests.cli.conftest import Harness, command, environment
from tests.doors.upstreams import answering, upstream, whole
from tests.runner.programs import PRELUDE

KEY = "an-opaque-key-of-the-provider"
NODE_AGENT = Path(__file__).parents[2] / "examples/node_agent.mjs"

AGENTS = """
import json, os, sys, urllib.request

def ask(url, text, **more):
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": text}], **more}
    headers = {"x-api-key": "sk-dummy", "content-type": "application/json"}
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


@pytest.fixture
def agents(folder: Path) -> Path:
    """The folder with agents that call a model by its URL."""
    (folder / "agents.py").write_text(AGENTS, "utf-8")
    return folder


def _asked(path: Path) -> list[str]:
    found = [json.loads(exchange.body) for exchange in read_cassette(path)]
    return [str(body["messages"][-1]["content"]) for body in found]


def test_a_prompt_is_recorded_and_played(agents: Path, harness: Harness) -> None:
    words = ["record", "x.yaml", "--target", "agents:good", "--prompt", "Hello?"]
    heard: list[bytes] = []
    with upstream(whole(json.dumps(said("Hi.")).encode()), heard=heard) as url:
        done = harness(*words, "--upstream", url, ANTHROPIC_API_KEY=KEY)
    assert (done.returncode, done.stdout) == (0, "x.yaml: 1 call, 1 kB\n"), done.stderr
    assert "the agent prints" in done.stderr
    assert f"x-api-key: {KEY}".encode() in heard[0].lower()
    assert KEY not in (agents / "x.yaml").read_text()
    assert _asked(agents / "x.yaml") == ["Hello?"]
    played = {"name": "played", "inbox": "Hello?", "script": {"cassette": "x.yaml"}}
    (agents / "played.yaml").write_text(yaml.dump(played))
    again = harness("run", "played.yaml", "--target", "agents:good", "--world", "supervise")
    assert again.returncode == 0, again.stdout


def test_a_scenario_gives_inbox_and_tools(agents: Path, harness: Harness) -> None:
    tools = {"weather": {"script": [{"ok": "Sunny in Oslo.", "times": "forever"}]}}
    inbox = ["weather?", "and tomorrow?"]
    scenario = {
        "name": "weather",
        "inbox": [{"text": text} for text in inbox],
        "tools": tools,
        "script": {"cassette": "cassettes/not-there-yet.yaml"},
        "faults": [{"kind": "http.overloaded"}],
    }
    (agents / "weather.yaml").write_text(yaml.dump(scenario))
    with answering(echo) as url:
        done = harness(
            "record", "cassettes/x.yaml", "--scenario", "weather.yaml", "--upstream", url,
            "--target", "agents:with_tools", "--json",
        )  # fmt: skip
    row = json.loads(done.stdout)
    expected = {"cassette": "cassettes/x.yaml", "calls": 2, "ended": "returned"}
    assert {key: row[key] for key in expected} == expected
    assert done.returncode == 0
    assert _asked(agents / "cassettes/x.yaml") == ["Sunny in Oslo."] * 2


@pytest.mark.parametrize(("after", "due"), [("model#1", False), ("main/model#2", False),
                                             ("tool#1", True), ("inbox#1", True)])  # fmt: skip
def test_a_message_may_wait_for_every_call_but_the_models(
    agents: Path, harness: Harness, after: str, due: bool
) -> None:
    scenario = {
        "name": "waits",
        "inbox": [{"text": "one"}, {"id": "late", "text": "two", "when": {"after": after}}],
        "tools": {"weather": {"script": [{"ok": "sunny", "times": "forever"}]}},
        "script": [{"say": "never played"}],
    }
    (agents / "waits.yaml").write_text(yaml.dump(scenario))
    with answering(echo) as url:
        done = harness(
            "record", "x.yaml", "--scenario", "waits.yaml", "--upstream", url,
            "--target", "agents:with_tools",
        )  # fmt: skip
    assert done.returncode == (0 if due else 2), done.stderr
    assert (agents / "x.yaml").exists() == due
    if due:
        assert len(_asked(agents / "x.yaml")) == 2
    else:
        assert f"waits: inbox message late: waits for {after}, and the real model's" in done.stderr


def _program(folder: Path, body: str) -> str:
    path = folder / "program.py"
    path.write_text(PRELUDE + body)
    return f"process:{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


@pytest.mark.real
def test_a_program_of_any_language_is_recorded(agents: Path, harness: Harness) -> None:
    target = _program(agents, "for message in inbox(): say(message, ask(message['text']))")
    with answering(echo) as url:
        done = harness("record", "x.yaml", "--target", target, "--prompt", "Hi", "--upstream", url)
    assert done.returncode == 0, done.stderr
    assert _asked(agents / "x.yaml") == ["Hi"]


@pytest.mark.real
def test_node_is_recorded(agents: Path, harness: Harness, node: str) -> None:
    def answer(body: bytes) -> bytes:
        return whole(json.dumps(said(f"{len(json.loads(body)['messages'])} messages")).encode())

    target = f"process:{node} {shlex.quote(str(NODE_AGENT))}"
    with answering(answer) as url:
        done = harness("record", "x.yaml", "--target", target, "--prompt", "Hi", "--upstream", url)
    assert done.returncode == 0, done.stderr
    assert len(list(read_cassette(agents / "x.yaml"))) == 1


def test_an_agent_that_crashes_leaves_the_old_cassette(agents: Path, harness: Harness) -> None:
    (agents / "x.yaml").write_text("old")
    words = ["record", "x.yaml", "--target", "agents:crashing", "--prompt", "x"]
    with answering(echo) as url:
        done = harness(*words, "--upstream", url)
    assert done.returncode == 1
    assert "1 call recorded so far: x.yaml.part; x.yaml is as it was\n" in done.stderr
    assert "the target crashed: " in done.stderr
    assert "the agent's own mistake" in done.stderr
    assert (agents / "x.yaml").read_text() == "old"
    assert _asked(agents / "x.yaml.part") == ["one"]


@pytest.mark.real
def test_a_loop_is_stopped_before_it_costs_more(agents: Path, harness: Harness) -> None:
    words = ["record", "x.yaml", "--target", "agents:looping", "--prompt", "x"]
    heard: list[bytes] = []
    with upstream(echo(b'{"messages": [{"content": "x"}]}'), heard=heard) as url:
        done = harness(*words, "--upstream", url)
    assert done.returncode == 2
    assert "limits.model_calls = 50: no more calls are recorded" in done.stderr
    assert (len(heard), len(_asked(agents / "x.yaml.part"))) == (50, 50)


@pytest.mark.real
def test_an_upstream_that_is_not_there(agents: Path, harness: Harness) -> None:
    words = ["record", "x.yaml", "--target", "agents:good", "--prompt", "x"]
    done = harness(*words, "--upstream", "http://127.0.0.1:1")
    assert done.returncode == 2
    assert "error: x.yaml: no answer from http://127.0.0.1:1/v1/messages" in done.stderr
    assert list(agents.glob("x.yaml*")) == []


@pytest.mark.real
def test_a_secret_of_the_environment_is_not_written(agents: Path, harness: Harness) -> None:
    words = ["record", "x.yaml", "--target", "agents:leaking", "--prompt", "x"]
    secret = "no shape at all"
    with answering(lambda body: whole(json.dumps(said("thanks")).encode())) as url:
        done = harness(*words, "--upstream", url, MY_TOKEN=secret)
        assert done.returncode == 2
        assert "exchange 1, request's body: a key of this process's environment" in done.stderr
        assert secret not in done.stderr
        assert list(agents.glob("x.yaml*")) == []
        digest = done.stderr.partition("(digest ")[2].partition(")")[0]
        allowed = harness(*words, "--upstream", url, "--allow", digest, MY_TOKEN=secret)
    assert allowed.returncode == 0, allowed.stderr
    assert _asked(agents / "x.yaml") == [f"the key is {secret}"]


@pytest.mark.parametrize(
    ("words", "said_so"),
    [
        (["--target", "agents:silent", "--prompt", "x"], "no call to a model was recorded"),
        (["--target", "agents:good"], "give either --scenario FILE or --prompt TEXT"),
        (["--target", "agents:good", "--prompt", "x", "--scenario", "y"], "give either"),
        (["--target", "agents:good", "--scenario", "gone.yaml"], "gone.yaml"),
        (["--target", "agents:god", "--prompt", "x"], "did you mean 'good'"),
        (["--target", "agents:good", "--prompt", "x", "--upstream", "api"], "no URL of an API"),
        (["--prompt", "x"], "--target"),
    ],
)
def test_what_cannot_be_used_is_one_line(
    words: list[str], said_so: str, agents: Path, harness: Harness
) -> None:
    done = harness("record", "x.yaml", *words)
    assert done.returncode == 2
    assert said_so in done.stderr
    assert not (agents / "x.yaml").exists()


def test_ctrl_c_keeps_what_was_recorded_beside_the_old_cassette(agents: Path) -> None:
    (agents / "x.yaml").write_text("old")
    words = ["record", "x.yaml", "--target", "agents:waiting", "--prompt", "x", "--upstream"]
    with (
        answering(echo) as url,
        subprocess.Popen(
            command(*words, url), cwd=agents, env=environment(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as running,
    ):  # fmt: skip
        assert running.stderr is not None
        assert running.stderr.readline() == "ready\n"
        os.kill(running.pid, signal.SIGINT)
        said_so = running.stderr.read()
        assert running.wait(60) == 130
    assert "1 call recorded so far: x.yaml.part; x.yaml is as it was\n" in said_so
    assert "interrupted" in said_so
    assert (agents / "x.yaml").read_text() == "old"
    assert _asked(agents / "x.yaml.part") == ["one"]


@pytest.mark.real
def test_a_target_that_does_not_end_is_stopped(agents: Path, harness: Harness) -> None:
    release = threading.Event()
    words = ["record", "x.yaml", "--target", "agents:good", "--prompt", "x", "--real-s", "0.5"]
    with upstream(release, whole(b"{}")) as url:
        done = harness(*words, "--upstream", url)
        release.set()
    assert done.returncode == 1
    assert "the target did not end" in done.stderr
    assert list(agents.glob("x.yaml*")) == []
