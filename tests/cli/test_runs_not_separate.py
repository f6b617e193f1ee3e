"""A session in the working folder outlives its run: the command says so, and blames no agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Harness

AGENT = """
import json
from pathlib import Path

KEPT = Path("conversation.json")


def agent(brief):
    client = brief.anthropic()
    for message in brief.inbox():
        rows = json.loads(KEPT.read_text()) if KEPT.exists() else []
        rows.append({"role": "user", "content": message.text})
        reply = client.messages.create(model="m", max_tokens=99, messages=rows)
        rows.append({"role": "assistant", "content": reply.content[0].text})
        KEPT.write_text(json.dumps(rows))
        brief.send(reply.content[0].text, in_reply_to=message.id)
"""

SCENARIO = """
name: talk
inbox: "Which three steps renew a passport?"
script: [{say: "Fill in the form, sign it, pay."}]
variants:
  short: {inbox: "What does a passport cost here?", script: [{say: "It costs eighty euros."}]}
  again: {}
"""


@pytest.mark.real
def test_runs_that_continue_each_other_are_not_judged(tmp_path: Path, harness: Harness) -> None:
    (tmp_path / "keeps.py").write_text(AGENT)
    (tmp_path / "talk.yaml").write_text(SCENARIO)
    done = harness("run", "talk.yaml", "--target", "keeps:agent?folder=shared", "-j", "1")
    assert "3 runs: 1 passed, 2 not applicable" in done.stdout
    assert "keep a session file below brief.session_dir" in " ".join(done.stdout.split())
    again = harness("run", "talk.yaml", "--only", "talk/again", "--target", "keeps:agent")
    assert "1 run: 1 not applicable" in again.stdout
