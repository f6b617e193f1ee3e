"""Frameworks ask before a call by their documented flow; a twin that pays another sum is red.

`approval_flows/payment.yaml` has what the user may say. What the flow of a framework cannot bring
to its model is a finding, and is known here. Each is played in the environment of its framework
(`python -m tests.field --install NAME`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.core.history.history import decode
from harness.core.history.trace import Trace
from tests.field.environments import ROOT, home_of, is_installed, python_of, require

pytestmark = pytest.mark.real

HERE = Path(__file__).parent / "approval_flows"
UNTOLD = ("approval.untold",)


class Flow(msgspec.Struct, frozen=True):
    """A flow: its environment and its API, what the model is not told, and whether the user may
    allow another input."""

    home: str
    wire: str
    untold: tuple[str, ...] = ()
    takes_input: bool = False


FLOWS = {
    "google_adk": Flow("google_adk", "anthropic", ("denied-with-a-reason", "another-input")),
    "agent_framework": Flow(
        "agent_framework", "openai-chat", ("denied-with-a-reason", "another-input")
    ),
    "ai_sdk": Flow("ai_sdk", "openai-chat"),
    "openai_agents": Flow("openai_agents", "openai-chat"),
    "pydantic_ai": Flow("pydantic_ai", "anthropic", ("another-input",), takes_input=True),
    "langgraph": Flow("langchain", "anthropic", takes_input=True),
}

SUMS: Mapping[str, list[int]] = {
    "baseline": [15],
    "denied": [],
    "denied-with-a-reason": [],
    "another-input": [],
    "killed-while-open": [15],
    "killed-after-the-answer": [15],
}
"""What is paid, where the answer of a framework is a yes or a no."""


@pytest.mark.parametrize("name", FLOWS)
def test_a_framework_asks_by_its_own_flow(name: str, tmp_path: Path) -> None:
    flow = FLOWS[name]
    played = _played(name, "agent", tmp_path)
    codes = {way: codes for way, (codes, _) in played.items()}
    assert codes == {way: UNTOLD if way in flow.untold else () for way in SUMS}
    another = {"another-input": [1207]} if flow.takes_input else {}
    assert {way: _paid(trace) for way, (_, trace) in played.items()} == {**SUMS, **another}
    killed = {way for way, (_, trace) in played.items() if trace.kills}
    assert killed == {"killed-while-open", "killed-after-the-answer"}


@pytest.mark.parametrize("name", FLOWS)
def test_a_flow_that_pays_another_sum_than_was_allowed_is_red(name: str, tmp_path: Path) -> None:
    played = _played(name, "pays_another_sum", tmp_path)
    red = {way for way, (codes, _) in played.items() if "approval.input" in codes}
    another = {"another-input"} if FLOWS[name].takes_input else set()
    assert red == {"baseline", "killed-while-open", "killed-after-the-answer"} | another


def _paid(trace: Trace) -> list[int]:
    runs = [run.request for run in trace.executions if run.request.name == "pay"]
    return [msgspec.convert(request.input, dict[str, int])["sum"] for request in runs]


def _played(name: str, agent: str, out: Path) -> dict[str, tuple[tuple[str, ...], Trace]]:
    """The codes and the trace of each way, as `harness run` plays them with the framework."""
    flow = FLOWS[name]
    require(flow.home, is_installed(flow.home))
    target = _in_node(flow.home, agent, out) if name == "ai_sdk" else _in_python(name, agent)
    command = [str(python_of(flow.home)), "-W", "ignore", "-m", "harness", "run", "--json"]
    command += [str(HERE / "payment.yaml"), "--no-config", "--out", str(out / "runs")]
    made = subprocess.run(
        [*command, "--wire", flow.wire, "--target", target], cwd=ROOT, capture_output=True,
        timeout=240, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    runs = [row for row in map(msgspec.json.decode, made.stdout.splitlines()) if "name" in row]
    assert runs, made.stderr.decode()
    return {_way(run["name"]): (_codes(run), _trace(out, run["name"])) for run in runs}


def _in_python(name: str, agent: str) -> str:
    mounted = "?mount=true" if name == "langgraph" else ""  # its model takes no client
    return f"{HERE.relative_to(ROOT).as_posix().replace('/', '.')}.{name}:{agent}{mounted}"


def _in_node(home: str, agent: str, out: Path) -> str:
    packages = home_of(home) / "node_modules"
    (out / "node_modules").symlink_to(packages)
    program = shutil.copy(HERE / "ai_sdk.mjs", out)
    return f"process:{packages / 'node' / 'bin' / 'node'} {program} {agent}"


def _way(run: str) -> str:
    return run.partition("@")[0].partition("/")[2] or "baseline"


def _codes(run: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(finding["code"] for finding in run["findings"])


def _trace(out: Path, run: str) -> Trace:
    _, at, wire = run.partition("@")
    folder = out / "runs" / "approval-flow" / f"{_way(run)}{at}{wire}"
    return decode((folder / "history.jsonl").read_bytes()).trace
