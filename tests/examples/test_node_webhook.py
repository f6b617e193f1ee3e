"""The Node agent behind a webhook, and programs that read lines, as whole runs on real time."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec
import pytest

from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.values.profile import Profile
from harness.runner import run
from harness.targets import resolve

pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[2]
NODE = f"process:node {ROOT}/examples/node_agent.mjs?careful=true&messages=webhook"
SCENARIO = Scenario(
    name="pushed",
    policy="open",
    tools={"step": ToolScript(script=(ToolTurn(ok="done", hang=1, times="forever"),))},
    inbox=(
        InboxItem(text="Do the work in two steps."),
        InboxItem(text="Leave the second one out.", when={"after": "main/model#1"}),
        InboxItem(text="Thanks, that is all."),
    ),
    script=(
        *(Turn(use="step", optional=True),) * 2,
        Turn(say="The work is done.", times="forever"),
    ),
    profile=Profile(inbound="queue"),
)
KILLED = FaultSpec(kind="gateway.killed", on="tool", when=1)

LINES = """
import json, os, sys, urllib.request

def post(url, value):
    data = json.dumps(value).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    urllib.request.urlopen(request).close()

for line in sys.stdin:
    message = json.loads(line)
    if message["kind"] == "end":
        break
    post(os.environ["HARNESS_INBOX_URL"] + "/accepted", {"id": message["id"]})
    post(os.environ["HARNESS_OUTBOX_URL"], {"text": "Noted.", "in_reply_to": message["id"]})
"""


@pytest.mark.parametrize("faults", [(), (KILLED,)], ids=["whole", "killed"])
def test_a_careful_agent_behind_a_webhook_passes(faults: tuple[FaultSpec, ...]) -> None:
    done = run(msgspec.structs.replace(SCENARIO, faults=faults), resolve(NODE))
    codes = [finding.code for finding in done.verdict.findings]
    assert (done.verdict.verdict, codes) == ("pass", [])
    # A kill may come before the message, as the machine decides.
    assert faults or done.history.trace.turns["main", 1].came
    assert len(done.history.trace.deliveries) >= 3


def test_a_program_reads_its_messages_as_lines(tmp_path: Path) -> None:
    program = tmp_path / "lines.py"
    program.write_text(LINES)
    done = run(SCENARIO, resolve(f"process:{sys.executable} {program}?inbox=lines"))
    assert done.history.trace.ended is not None
    assert done.history.trace.ended.how == "returned", json.dumps(done.history.trace.ended.text)
    said = [sending.request.in_reply_to for sending in done.history.trace.sendings]
    assert said == ["m1", "m3"]  # the second message waits for a call that the program never makes
