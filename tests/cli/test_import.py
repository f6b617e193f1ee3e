"""`import`: a recording of any reader becomes files that `run` plays; nothing is replaced."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Harness
from tests.cli.talks import REFERENCE

KEY = "sk-ant-" + "a1B2c3D4e5" * 4
LOG = [
    {"type": "user", "message": {"role": "user", "content": f"Use {KEY}, please."}},
    {
        "type": "assistant",
        "message": {
            "id": "a",
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "find", "input": {"q": "x"}}],
        },
    },
    {
        "type": "user",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "3 hits"}],
        },
    },
    {
        "type": "assistant",
        "message": {
            "id": "b",
            "role": "assistant",
            "content": [{"type": "text", "text": "There are three."}],
        },
    },
]
CASSETTE = {
    "interactions": [
        {
            "request": {
                "method": "POST",
                "uri": "https://api.anthropic.com/v1/messages",
                "headers": {"x-api-key": [KEY], "content-type": ["application/json"]},
                "body": json.dumps(
                    {
                        "model": "m",
                        "max_tokens": 9,
                        "messages": [{"role": "user", "content": "Hello"}],
                    }
                ),
            },
            "response": {
                "status": {"code": 200, "message": "OK"},
                "headers": {"content-type": ["application/json"]},
                "body": {
                    "string": json.dumps(
                        {
                            "id": "msg_1",
                            "type": "message",
                            "role": "assistant",
                            "model": "m",
                            "content": [{"type": "text", "text": "Good morning."}],
                            "stop_reason": "end_turn",
                            "usage": {"input_tokens": 1, "output_tokens": 1},
                        }
                    )
                },
            },
        }
    ],
    "version": 1,
}


@pytest.fixture
def log(folder: Path) -> Path:
    """A session log of Claude Code, with a key in it."""
    path = folder / "session.jsonl"
    lines = [json.dumps({"sessionId": "s", "uuid": str(n), **line}) for n, line in enumerate(LOG)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.mark.real
def test_a_session_log_is_played(harness: Harness, folder: Path, log: Path) -> None:
    done = harness("import", log.name, "--name", "three-hits")
    assert (done.returncode, done.stderr) == (0, "")
    assert "  0 of 1 tool results missing; replayable: yes\n" in done.stdout
    text = (folder / "scenarios/three-hits.yaml").read_text("utf-8")
    assert text.startswith("# harness import of session.jsonl, s\n# 0 of 1 tool results missing")
    assert KEY not in text
    assert "[REDACTED" in text
    assert not (folder / "cassettes").exists()
    dry = harness("run", "scenarios/three-hits.yaml", "--dry-run")
    assert dry.returncode == 0, dry.stderr
    played = harness("run", "scenarios/three-hits.yaml", "--target", REFERENCE)
    assert played.returncode == 0, played.stdout


def test_recorded_bytes_become_a_cassette(harness: Harness, folder: Path) -> None:
    (folder / "vcr.yaml").write_text(yaml.safe_dump(CASSETTE), "utf-8")
    done = harness("import", "vcr.yaml", "--name", "morning", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["format"], said["replayable"], said["missing"]) == ("vcr", "yes", 0)
    text = (folder / said["cassette"]).read_text("utf-8")
    assert KEY not in text
    (kept,) = yaml.safe_load(text)["interactions"]
    assert kept["request"]["body"] == CASSETTE["interactions"][0]["request"]["body"]  # type: ignore[index]
    assert harness("run", said["scenario"], "--target", "agents:good").returncode == 0


def test_a_run_of_ours_is_a_recording_too(harness: Harness, folder: Path) -> None:
    assert harness("run", "--target", "agents:good", "--only", "greeting").returncode == 0
    history = ".harness/runs/greeting/baseline/history.jsonl"
    assert harness("import", history, "--name", "again").returncode == 0
    scenario = yaml.safe_load((folder / "scenarios/again.yaml").read_text("utf-8"))
    assert (scenario["inbox"], scenario["script"]) == ("Hello", [{"say": "Good morning."}])
    assert harness("run", "scenarios/again.yaml", "--target", "agents:good").returncode == 0


def test_nothing_is_replaced_unless_it_is_asked_for(
    harness: Harness, folder: Path, log: Path
) -> None:
    words = ("import", log.name, "--name", "it")
    assert harness(*words).returncode == 0
    before = (folder / "scenarios/it.yaml").read_bytes()
    (folder / "scenarios/it.yaml").write_bytes(b"# mine\n" + before)
    again = harness(*words)
    assert (again.returncode, again.stdout) == (2, "")
    assert "scenarios/it.yaml: the file exists: --force" in again.stderr
    assert (folder / "scenarios/it.yaml").read_bytes().startswith(b"# mine")
    assert harness(*words, "--force").returncode == 0
    assert (folder / "scenarios/it.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gone.jsonl", "--name", "x"], "gone.jsonl: cannot be read: No such file"),
        (["session.jsonl", "--name", "No Kebab"], "in kebab case"),
        (["session.jsonl", "--name", "x", "--at", "2"], "the recording has the turns 1 to 1"),
        (["session.jsonl", "--name", "x", "--transcript", "t"], "no such transcript; known: s"),
        (["session.jsonl", "--name", "x", "--format", "vrc"], "did you mean 'vcr'?"),
        (["agents.py", "--name", "x"], "format not recognised"),
        (["session.jsonl"], "Missing option '--name'"),
        ([".", "--name", "x"], ".: "),
    ],
    ids=" ".join,
)
def test_what_cannot_be_imported(
    harness: Harness, folder: Path, log: Path, words: list[str], said: str
) -> None:
    done = harness("import", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((folder / "scenarios").glob("x*"))
