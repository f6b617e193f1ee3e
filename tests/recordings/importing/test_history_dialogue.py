"""A run of ours as a story: its scenario makes the agent do it again, and a repaired one not."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.agent import agent as reference
from harness.core.history.history import History
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.values.errors import InputError
from harness.files.scenario_file import SourceFile
from harness.files.scenario_text import scenario_text
from harness.files.yaml_text import parse
from harness.recordings.importing.dialogue import dialogue_of_history
from harness.recordings.importing.fidelity import GapLog
from harness.recordings.importing.scenario_document import import_dialogue
from harness.runner import run
from tests.mutants.no_breaker import agent as no_breaker

LOOP = Scenario(
    name="loop",
    inbox=(InboxItem(text="Remember it."),),
    tools={"memory": ToolScript(script=(ToolTurn(error="no room", times=20),))},
    script=(
        Turn(use="memory", times=20),
        Turn(say="I could not."),
    ),
)


def _imported(history: History) -> Scenario:
    made = import_dialogue(
        dialogue_of_history(history),
        name="again",
        title="",
        source=[],
        fired=[],
        at=None,
        account=GapLog(),
    )
    (scenario,) = SourceFile(Path("again.yaml"), *parse(scenario_text(made.document))).scenarios()
    return scenario


def test_the_finding_comes_again_and_goes_when_it_is_mended() -> None:
    first = run(LOOP, no_breaker)
    again = _imported(first.history)
    code = "no_progress_stop.same_call"
    assert code in {finding.code for finding in first.verdict.findings}
    assert code in {finding.code for finding in run(again, no_breaker).verdict.findings}
    assert run(again, reference).verdict.verdict == "pass"


def test_failures_and_replies_are_where_they_were() -> None:
    busy = FaultSpec(kind="http.status", settings={"status": 529}, when=1)
    hello = Scenario(
        name="hello", inbox=(InboxItem(text="hello"),), script=(Turn(say="Hello."),), faults=(busy,)
    )
    again = _imported(run(hello, reference).history)
    assert [item.text for item in again.inbox] == ["hello"]
    assert again.script == (Turn(say="Hello.", optional=True),)
    assert [(f.kind, f.when, f.must_fire) for f in again.faults] == [("http.status", 1, False)]
    assert run(again, reference).verdict.verdict == "pass"


def test_a_history_without_its_start() -> None:
    with pytest.raises(InputError, match="without `started`"):
        dialogue_of_history(History())
