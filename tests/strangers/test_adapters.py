"""The adapters with the real frameworks, each in the environment that `make strangers` makes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.strangers.environments import ENVIRONMENTS, HERE, ROOT, frameworks

CHEAP = ("pydantic_ai", "openai_agents")
"""What the slow tier plays; the others are nightly."""

ADAPTED = ("anthropic_runner", "langchain", "smolagents", "ai_sdk")


def _python(name: str) -> Path:
    """The Python of a framework; skips the test where the framework is not installed."""
    folder = ENVIRONMENTS / (frameworks()[name].shares or name)
    python = Path(sys.executable) if (folder / "node_modules").exists() else folder / "bin/python"
    if name == "anthropic_runner":
        return Path(sys.executable)
    if not python.exists():
        pytest.skip(f"`make strangers` installs {name}")
    return python


@pytest.mark.real
@pytest.mark.parametrize(
    "name", [*CHEAP, *(pytest.param(n, marks=pytest.mark.nightly) for n in ADAPTED)]
)
def test_a_framework_plays_messages_tools_and_history(name: str, tmp_path: Path) -> None:
    command = [str(_python(name)), "-W", "ignore", "-m", "harness", "run", "--json"]
    command += ["tests/strangers/adapter-greeting.yaml", "--out", str(tmp_path)]
    command += ["--profile", str(HERE / "frameworks" / f"{name}.toml")]
    made = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True,
        timeout=120, check=False,
    )  # fmt: skip
    runs = [row for row in map(msgspec.json.decode, made.stdout.splitlines()) if "name" in row]
    assert runs, made.stderr.decode()
    assert {run["verdict"] for run in runs} == {"pass"}, runs
