"""The adapters with the real frameworks, each in the environment that `make field` makes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import msgspec
import pytest

from tests.field.environments import ROOT, is_installed, options_of, python_of

CHEAP = ("pydantic_ai", "openai_agents")
"""What `make test-real` installs and plays; the others are nightly."""

ADAPTED = ("anthropic_runner", "langchain", "smolagents", "ai_sdk")


@pytest.mark.real
@pytest.mark.parametrize(
    "name", [*CHEAP, *(pytest.param(n, marks=pytest.mark.nightly) for n in ADAPTED)]
)
def test_a_framework_plays_messages_tools_and_history(name: str, tmp_path: Path) -> None:
    if not is_installed(name):
        pytest.skip(f"not installed: python -m tests.field --install {name}")
    command = [str(python_of(name)), "-W", "ignore", "-m", "harness", "run", "--json"]
    command += ["tests/field/adapter-greeting.yaml", "--out", str(tmp_path), *options_of(name)]
    made = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True,
        timeout=120, check=False,
    )  # fmt: skip
    runs = [row for row in map(msgspec.json.decode, made.stdout.splitlines()) if "name" in row]
    assert runs, made.stderr.decode()
    assert {run["verdict"] for run in runs} == {"pass"}, runs
