"""An agent with a file for each session, which the path of `--store` names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.files import load_scenarios
from harness.runner import Run, run

_SCENARIO = """
name: two-sessions
inbox:
  - {id: a1, session: ada, text: "Good morning."}
  - {id: b1, session: bob, text: "Good morning."}
  - {id: a2, session: ada, text: "And now?"}
  - {id: b2, session: bob, text: "And now?"}
script: [{say: "Good day to you.", times: forever}]
faults: [{kind: gateway.killed, on: model, when: 3}]
"""


def _agent(brief: Any, *, forgets: bool) -> None:
    def ask(session: str) -> str:
        rows = [json.loads(line) for line in file(session).read_text().splitlines()]
        sent = rows[-1:] if forgets else rows
        messages = [{"role": r["role"], "content": r["blocks"][0]["text"]} for r in sent]
        client = brief.anthropic(default_headers={"x-harness-session": session})
        reply = client.messages.create(model="any", max_tokens=99, messages=messages)
        return str(reply.content[0].text)

    def file(session: str) -> Path:
        return Path(brief.session_dir) / f"{session}.jsonl"

    def keep(session: str, role: str, text: str, id: str = "") -> None:
        row = {"role": role, "blocks": [{"type": "text", "text": text}], "id": id}
        with file(session).open("a") as rows:
            rows.write(json.dumps(row) + "\n")

    for message in brief.inbox():
        session, kept = message.session, file(message.session)
        if not kept.exists() or f'"id": "{message.id}"' not in kept.read_text():
            keep(session, "user", message.text, message.id)
        text = ask(session)
        keep(session, "assistant", text)
        brief.send(text, session=session, in_reply_to=message.id)


def remembers(brief: Any) -> None:
    """Sends what its files hold."""
    _agent(brief, forgets=False)


def forgets(brief: Any) -> None:
    """Sends the newest row only."""
    _agent(brief, forgets=True)


def _played(tmp_path: Path, agent: Any, store: str) -> Run:
    path = tmp_path / "two-sessions.yaml"
    path.write_text(_SCENARIO)
    (scenario,) = load_scenarios(path)
    return run(scenario, agent, store=store)


def test_equal_words_of_two_sessions_are_no_duplicates(tmp_path: Path) -> None:
    found = _played(tmp_path, remembers, "jsonl:{session}.jsonl").verdict.findings
    assert [finding.code for finding in found] == []


@pytest.mark.parametrize("store", ["jsonl:{session}.jsonl", "jsonl:."])
def test_what_a_session_said_last_is_asked_by_its_name_or_its_words(
    tmp_path: Path, store: str
) -> None:
    told = _played(tmp_path, forgets, store).verdict.findings
    assert "reload_equivalence.forgotten" in {finding.code for finding in told}
    told = _played(tmp_path, remembers, store).verdict.findings
    assert "reload_equivalence.forgotten" not in {finding.code for finding in told}
