"""Where faults on the store can be armed: on the store that the harness gives, in either world."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from harness.agent import agent
from harness.core.history.events import Answered, Called
from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, Turn
from harness.core.values.errors import InputError
from harness.runner import run
from harness.targets import of_callable, resolve

FULL = Scenario(
    name="full",
    inbox=(InboxItem(id="m1", text="hello"),),
    script=(Turn(say="Hello to you."),),
    faults=(FaultSpec(kind="persistence.disk_full", when=2),),
)


@pytest.mark.parametrize("world", ["simulate", "supervise"])
@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
def test_a_python_target_meets_them_in_both_worlds(world: Any, store: str) -> None:
    done = run(FULL, of_callable(agent, {"store": store}), world=world)
    assert [f.code for f in done.verdict.findings] == []
    fired = [k for e in done.history.events if isinstance(e, Answered) for k in e.faults]
    assert fired == ["persistence.disk_full"]


def test_a_program_has_no_store_of_ours() -> None:
    done = run(FULL, resolve(f"process:{sys.executable} -c pass"))
    assert done.verdict.verdict == "not_applicable"
    (reason,) = done.verdict.not_applicable
    assert reason.reason.startswith("needs brief.store")


def test_a_server_as_a_store_is_refused() -> None:
    with pytest.raises(InputError, match=r"postgres|psycopg|dsn"):
        run(FULL, of_callable(agent, {"store": "postgres"}))


def test_an_agent_that_never_asks_for_the_store_leaves_the_fault_silent() -> None:
    def forgetful(brief: Any) -> None:
        client = brief.anthropic()
        for message in brief.inbox():
            request: Any = [{"role": "user", "content": message.text}]
            said = client.messages.create(model="m", max_tokens=64, messages=request)
            brief.send(said.content[0].text)

    codes = [finding.code for finding in run(FULL, forgetful).verdict.findings]
    assert codes == ["run.silent_fault"]


def test_without_a_fault_the_store_is_looked_at_and_not_listened_to() -> None:
    plain = Scenario(name="plain", inbox=FULL.inbox, script=FULL.script)
    events = run(plain, agent).history.events
    assert "store" not in {event.seam for event in events if isinstance(event, Called)}
