"""The adapters with the real frameworks, each in the environment that `make field` makes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import msgspec
import pytest

from tests.field.environments import CHEAP, ROOT, is_installed, options_of, python_of, require

ADAPTED = ("pydantic_ai", "openai_agents", "anthropic_runner", "langchain", "smolagents", "ai_sdk")


@pytest.mark.real
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in CHEAP else pytest.mark.nightly) for n in ADAPTED],
)
def test_a_framework_plays_messages_tools_and_history(name: str, tmp_path: Path) -> None:
    require(name, is_installed(name))
    command = [str(python_of(name)), "-W", "ignore", "-m", "harness", "run", "--json"]
    command += ["tests/field/adapter-greeting.yaml", "--out", str(tmp_path), *options_of(name)]
    made = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True,
        timeout=240, check=False,
    )  # fmt: skip
    runs = [row for row in map(msgspec.json.decode, made.stdout.splitlines()) if "name" in row]
    assert runs, made.stderr.decode()
    assert {run["verdict"] for run in runs} == {"pass"}, runs
