"""`harness record` broken off or refused: what is kept, what is not written, and what is said."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from tests.cassettes.recorded import said
from tests.cli.conftest import Harness, command, environment
from tests.cli.url_agents import echo, recorded
from tests.transports.upstreams import answering, upstream, whole


def test_an_agent_that_crashes_leaves_the_old_cassette(url_agents: Path, harness: Harness) -> None:
    (url_agents / "x.yaml").write_text("old")
    words = ["record", "x.yaml", "--target", "agents:crashing", "--prompt", "x"]
    with answering(echo) as url:
        done = harness(*words, "--upstream", url)
    assert done.returncode == 1
    assert "1 call recorded so far: x.yaml.part; x.yaml is unchanged\n" in done.stderr
    assert "the target crashed: " in done.stderr
    assert "the agent's own mistake" in done.stderr
    assert (url_agents / "x.yaml").read_text() == "old"
    assert recorded(url_agents / "x.yaml.part") == ["one"]


@pytest.mark.real
def test_a_loop_is_stopped_before_it_costs_more(url_agents: Path, harness: Harness) -> None:
    words = ["record", "x.yaml", "--target", "agents:looping", "--prompt", "x"]
    heard: list[bytes] = []
    with upstream(echo(b'{"messages": [{"content": "x"}]}'), heard=heard) as url:
        done = harness(*words, "--upstream", url)
    assert done.returncode == 2
    assert "limits.model_calls = 50: no more calls are recorded" in done.stderr
    assert (len(heard), len(recorded(url_agents / "x.yaml.part"))) == (50, 50)


@pytest.mark.real
def test_an_upstream_that_is_not_there(url_agents: Path, harness: Harness) -> None:
    words = ["record", "x.yaml", "--target", "agents:good", "--prompt", "x"]
    done = harness(*words, "--upstream", "http://127.0.0.1:1")
    assert done.returncode == 2
    assert "error: x.yaml: no answer from http://127.0.0.1:1/v1/messages" in done.stderr
    assert list(url_agents.glob("x.yaml*")) == []


@pytest.mark.real
def test_a_secret_of_the_environment_is_not_written(url_agents: Path, harness: Harness) -> None:
    words = ["record", "x.yaml", "--target", "agents:leaking", "--prompt", "x"]
    secret = "no shape at all"
    with answering(lambda body: whole(json.dumps(said("thanks")).encode())) as url:
        done = harness(*words, "--upstream", url, MY_TOKEN=secret)
        assert done.returncode == 2
        assert "exchange 1, request's body: a key of this process's environment" in done.stderr
        assert secret not in done.stderr
        assert "\\u000a" not in done.stderr, "lines are lines"
        assert "\n  x.yaml.part has the recording without these texts" in done.stderr
        assert [path.name for path in url_agents.glob("x.yaml*")] == ["x.yaml.part"]
        assert recorded(url_agents / "x.yaml.part") == ["the key is [REDACTED]"]
        (url_agents / "x.yaml.part").unlink()
        digest = done.stderr.partition("(digest ")[2].partition(")")[0]
        allowed = harness(*words, "--upstream", url, "--allow", digest, MY_TOKEN=secret)
    assert allowed.returncode == 0, allowed.stderr
    assert recorded(url_agents / "x.yaml") == [f"the key is {secret}"]


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
    words: list[str], said_so: str, url_agents: Path, harness: Harness
) -> None:
    done = harness("record", "x.yaml", *words)
    assert done.returncode == 2
    assert said_so in done.stderr
    assert not (url_agents / "x.yaml").exists()


def test_ctrl_c_keeps_what_was_recorded_beside_the_old_cassette(url_agents: Path) -> None:
    (url_agents / "x.yaml").write_text("old")
    words = ["record", "x.yaml", "--target", "agents:waiting", "--prompt", "x", "--upstream"]
    with (
        answering(echo) as url,
        subprocess.Popen(
            command(*words, url), cwd=url_agents, env=environment(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as running,
    ):  # fmt: skip
        assert running.stderr is not None
        assert running.stderr.readline() == "ready\n"
        os.kill(running.pid, signal.SIGINT)
        said_so = running.stderr.read()
        assert running.wait(60) == 130
    assert "1 call recorded so far: x.yaml.part; x.yaml is unchanged\n" in said_so
    assert "interrupted" in said_so
    assert (url_agents / "x.yaml").read_text() == "old"
    assert recorded(url_agents / "x.yaml.part") == ["one"]


@pytest.mark.real
def test_a_target_that_does_not_end_is_stopped(url_agents: Path, harness: Harness) -> None:
    release = threading.Event()
    words = ["record", "x.yaml", "--target", "agents:good", "--prompt", "x", "--real-s", "0.5"]
    with upstream(release, whole(b"{}")) as url:
        done = harness(*words, "--upstream", url)
        release.set()
    assert done.returncode == 1
    assert "the target hung: it neither called nor computed for 0.5 s" in done.stderr
    assert list(url_agents.glob("x.yaml*")) == []
