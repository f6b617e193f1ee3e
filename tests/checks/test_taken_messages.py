"""A message that another process on the session has accepted first is that process's to answer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from harness import load_scenarios, run
from harness.core.scenario.scenario import Scenario

ROOT = Path(__file__).parents[2]
FILE = ROOT / "scenarios" / "store" / "message-taken-by-another.yaml"


def _scenarios() -> list[Scenario]:
    return [scenario for scenario in load_scenarios(FILE) if scenario.wire == "anthropic"]


def _documented() -> Any:
    """The agent with a store of docs/targets.md."""
    text = (ROOT / "docs" / "targets.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    [code] = [block for block in blocks if "store.accept(" in block]
    names: dict[str, Any] = {}
    exec(code, names)
    return names["agent"]


def _codes(scenario: Scenario, agent: Any, classes: tuple[str, ...]) -> set[str]:
    found = run(scenario, agent).verdict.findings
    return {f.code for f in found if f.class_ in classes}


def test_an_agent_with_a_store_may_say_nothing_of_such_a_message() -> None:
    for scenario in _scenarios():
        assert run(scenario, _documented()).verdict.verdict == "pass"
        assert "outbound_once.taken" in _codes(scenario, _documented(), ("advice",))


def test_an_agent_that_says_nothing_of_its_own_messages_fails() -> None:
    def silent(brief: Any) -> None:
        client = brief.anthropic()
        for n, message in enumerate(brief.inbox()):
            said = [{"role": "user", "content": message.text}]
            reply = client.messages.create(model="any", max_tokens=99, messages=said)
            if n == 0:
                brief.send(reply.content[0].text, in_reply_to=message.id)

    scenario = _scenarios()[0]
    assert "outbound_once.missing" in _codes(scenario, silent, ("defect",))
