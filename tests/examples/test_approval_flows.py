"""Frameworks ask before a call by their own flow, and a twin that pays another sum is red.

A framework that is not installed is skipped. The AI SDK is looked for in `AI_SDK_FOLDER`, a folder
with `node_modules` (npm install ai @ai-sdk/openai).
"""

from __future__ import annotations

import importlib
import os
import shutil
from pathlib import Path

import pytest

from harness import ApprovalTurn, InboxItem, Run, Scenario, ToolScript, ToolTurn, Turn, run
from harness.core.values.messages import Json
from harness.targets import resolve

pytestmark = pytest.mark.real

SUM: dict[str, Json] = {
    "type": "object",
    "properties": {"sum": {"type": "integer"}},
    "required": ["sum"],
}


def _scenario(wire: str, answer: ApprovalTurn) -> Scenario:
    paid = ToolTurn(ok="receipt 4711", effect="paid", times="forever")
    return Scenario(
        name="approval-flow",
        policy="open",
        wire=wire,
        tools={
            "pay": ToolScript(input_schema=SUM, script=(paid,), approval=(answer,)),
            "look": ToolScript(script=(ToolTurn(ok="one invoice of 15"),)),
        },
        inbox=(InboxItem(text="Pay 15."),),
        script=(
            Turn(
                blocks=(
                    {"type": "tool_use", "name": "pay", "input": {"sum": 15}},
                    {"type": "tool_use", "name": "look", "input": {}},
                )
            ),
            Turn(say="This is what became of it."),
        ),
    )


ALLOWED, DENIED = ApprovalTurn(after_s=1), ApprovalTurn(answer="deny")
FLOWS = {"google_adk": "anthropic", "agent_framework_flow": "openai-chat"}


def _runs(played: Run) -> list[str]:
    return sorted(execution.request.name for execution in played.history.trace.executions)


@pytest.mark.parametrize("name", FLOWS)
def test_a_frameworks_own_flow(name: str) -> None:
    pytest.importorskip("google.adk" if name == "google_adk" else "agent_framework")
    flow = importlib.import_module(f"tests.examples.approval_flows.{name}")
    allowed = run(_scenario(FLOWS[name], ALLOWED), flow.agent)
    assert (allowed.verdict.findings, _runs(allowed)) == ((), ["look", "pay"])
    denied = run(_scenario(FLOWS[name], DENIED), flow.agent)
    assert (denied.verdict.findings, _runs(denied)) == ((), ["look"])
    wrong = run(_scenario(FLOWS[name], ALLOWED), flow.pays_another_sum)
    assert wrong.verdict.findings[0].code == "approval.input"


def test_the_ai_sdks_own_flow(tmp_path: Path) -> None:
    installed = Path(os.environ.get("AI_SDK_FOLDER", "")) / "node_modules"
    if not shutil.which("node") or not (installed / "ai").is_dir():
        pytest.skip("needs Node, and AI_SDK_FOLDER with the packages ai and @ai-sdk/openai")
    program = tmp_path / "asking.mjs"
    program.write_text((Path(__file__).parent / "approval_flows" / "ai_sdk.mjs").read_text())
    (tmp_path / "node_modules").symlink_to(installed)
    scenario = _scenario("openai-chat", ALLOWED)
    allowed = run(scenario, resolve(f"process:node {program}"))
    assert (allowed.verdict.findings, _runs(allowed)) == ((), ["look", "pay"])
    wrong = run(scenario, resolve(f"process:node {program} wrong"))
    assert wrong.verdict.findings[0].code == "approval.input"
