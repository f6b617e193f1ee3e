"""The adapters with the real frameworks, each in the environment that `make field` makes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.field.environments import (
    CHEAP,
    ROOT,
    is_installed,
    options_of,
    python_of,
    require,
    sessions_of,
    targets,
)

ADAPTED = (
    "pydantic_ai", "openai_agents", "anthropic_runner", "langchain", "smolagents", "ai_sdk",
    "google_adk",
)  # fmt: skip


@pytest.mark.real
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in CHEAP else pytest.mark.nightly) for n in ADAPTED],
)
def test_a_framework_plays_messages_tools_and_history(name: str, tmp_path: Path) -> None:
    runs = _runs(name, ["tests/field/adapter-greeting.yaml"], tmp_path, *options_of(name))
    assert {run["verdict"] for run in runs} == {"pass"}, runs


CONNECTED = {name: target.connected for name, target in targets().items() if target.connected}
CONNECTED["ai_sdk"] = "anthropic"


@pytest.mark.real
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in CHEAP else pytest.mark.nightly) for n in CONNECTED],
)
def test_a_connected_framework_begins_with_a_past_and_is_killed(name: str, tmp_path: Path) -> None:
    words = (*sessions_of(name), "--wire", CONNECTED[name])
    files = ["scenarios/gateway/replay-spiral.yaml", "scenarios/resume/did-you-restart.yaml"]
    runs = _runs(name, files, tmp_path, *words)
    played = {run["name"].partition("@")[0]: run["verdict"] for run in runs}
    assert played["replay-spiral"] == "pass", runs
    assert "not_applicable" not in (played[name] for name in played if "spiral" in name)
    # Killed in the midst of a turn: what it says of the effect is the framework's own.
    assert played["did-you-restart/in-the-midst-of-it"] in ("pass", "fail")


HELPED = tuple(name for name in CONNECTED if name not in ("ai_sdk", "claude_agent"))


@pytest.mark.real
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in CHEAP else pytest.mark.nightly) for n in HELPED],
)
def test_a_connected_framework_has_sub_agents_and_is_cancelled(name: str, tmp_path: Path) -> None:
    words = (*sessions_of(name), "--wire", CONNECTED[name])
    files = ["children/result-of-a-child", "poisoned/stopped-before-the-first-tool"]
    runs = _runs(name, [f"scenarios/{file}.yaml" for file in files], tmp_path, *words)
    assert {run["verdict"] for run in runs} == {"pass"}, runs


ASKING = ("openai_agents", "langchain", "llama_index", "ai_sdk")


@pytest.mark.real
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in CHEAP else pytest.mark.nightly) for n in ASKING],
)
def test_a_connected_framework_asks_before_a_call(name: str, tmp_path: Path) -> None:
    words = (*sessions_of(name), "--wire", CONNECTED[name])
    runs = _runs(name, ["scenarios/approval/answers-that-go-wrong.yaml"], tmp_path, *words)
    played = [run for run in runs if run["verdict"] != "not_applicable"]  # one waits 15 minutes
    assert {run["verdict"] for run in played} == {"pass"}, runs
    assert len(played) >= len(runs) - 1
    unasked = [each["check"] for run in played for each in run["not_applicable"]]
    assert "approval" not in unasked


def _runs(name: str, files: list[str], out: Path, *words: str) -> list[dict[str, Any]]:
    """The rows that `harness run` prints in the environment of a framework.

    One command and one worker: each process imports the framework, which takes as long as all runs.
    """
    require(name, is_installed(name))
    command = [str(python_of(name)), "-W", "ignore", "-m", "harness", "run", "--json", "-j", "1"]
    made = subprocess.run(
        [*command, *files, "--out", str(out), *words], cwd=ROOT, capture_output=True, timeout=240,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    runs = [row for row in map(msgspec.json.decode, made.stdout.splitlines()) if "name" in row]
    assert runs, made.stderr.decode()
    return runs
