"""The reference agent under every fault of the layer, once and always, on both kinds of store.

No check has a finding, except where no agent could do better. A process that is killed at every
start never answers. A disk that stays full stores no message. The writes of a second process are
not the agent's.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.agent import agent
from harness.core.history.events import Answered
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.faults import Fault, faults
from harness.runner import run
from harness.targets import of_callable
from tests.faults.persistence.told import STORED
from tests.scenarios.all_runs import named

KINDS = [fault for kind, fault in faults().items() if kind.startswith("persistence.")]

SETTINGS: dict[str, dict[str, Any]] = {"large_session": {"rows": 300, "size_bytes": 50}}
WHEN = {"store:write": 2, "store:read": 1, "store:open": 1, "outbox": 1, "tool": 1, "model": 2}

OWN_FILES = "the agent has brief.store: see tests/runner/test_own_files.py"
ALONE = {
    "stale_cursor": "nothing was delivered before the first opening: see test_between",
    **dict.fromkeys(("killed_at_own_write", "own_line_garbled"), OWN_FILES),
}
"""Faults that this scenario has no place for."""

NEVER_ANSWERED = {"run.unplayed_turn", "run.undelivered", "run.nothing_intercepted"}

BY_ANOTHER = {
    "second_agent": {"run.unplayed_turn", "run.nothing_intercepted"},
}
"""A message that a second process has taken is not put to the model here."""


def _scenario(fault: Fault, often: Any) -> Scenario:
    name = fault.kind.partition(".")[2]
    on = "store:accept" if name == "second_agent" else fault.on
    spec = FaultSpec(
        kind=fault.kind,
        on=on,
        when=WHEN.get(on, 2),
        often=often,
        settings=SETTINGS.get(name, {}),
        must_fire=False,
    )
    return Scenario(
        name="survives",
        session=STORED,
        tools={"pay": ToolScript(script=(ToolTurn(ok="paid", effect="x", times="forever"),))},
        inbox=(InboxItem(id="m1", text="Pay order 1."), InboxItem(id="m2", text="Thank you.")),
        script=(Turn(use="pay", input={}), Turn(say="Paid."), Turn(say="You are welcome.")),
        faults=(spec,),
    )


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
@pytest.mark.parametrize("often", ["once", pytest.param("forever", marks=pytest.mark.real)])
@pytest.mark.parametrize("fault", KINDS, ids=lambda fault: fault.kind)
def test_the_reference_agent_survives(fault: Fault, often: str, store: str) -> None:
    name = fault.kind.partition(".")[2]
    done = run(_scenario(fault, often), of_callable(agent, {"store": store}))
    fired = sum(len(e.faults) for e in done.history.events if isinstance(e, Answered))
    explained = set(BY_ANOTHER.get(name, ()))
    if often == "forever" and name not in BY_ANOTHER:
        explained = NEVER_ANSWERED
    found = {f.code: f.message for f in done.verdict.findings if f.code not in explained}
    assert found == {}
    # Who is killed at each start is started again a few times only.
    told = [doubt for doubt in done.verdict.doubts if "limits.restarts" not in doubt]
    assert told == [], often
    assert often == "forever" or done.verdict.doubts == ()
    assert fired or name in ALONE or not _has(fault, store)


def _has(fault: Fault, store: str) -> bool:
    """Whether this kind of store knows the fault: its text says which one does."""
    only = {
        "sqlite": {"locked", "snapshot_conflict", "commit_forgotten"},
        "jsonl": {
            *("full_at_flush", "partial_write", "folder_removed", "quota_exceeded"),
            *("torn_write", "power_cut_reordered"),
        },
    }
    other = "jsonl" if store == "sqlite" else "sqlite"
    return fault.kind.partition(".")[2] not in only[other]


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
@pytest.mark.parametrize("name", ["message-taken-by-another", "second-process-writes"])
def test_two_processes_on_a_session_of_either_kind(name: str, store: str) -> None:
    done = run(named(name), of_callable(agent, {"store": store}))
    assert [f"{f.code}: {f.message}" for f in done.verdict.findings] == []
    assert done.verdict.verdict == "pass"
