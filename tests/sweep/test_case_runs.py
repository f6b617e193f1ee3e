"""What a case comes to: the plain run tells what the agent can, so a case lacks no session."""

from __future__ import annotations

import pytest

from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec
from harness.core.values.calls import ModelRequest
from harness.core.values.messages import user
from harness.core.values.verdict import NotApplicable, Verdict
from harness.runner.needs import UNSHOWN_SESSION
from harness.sweep.case_runs import result_of
from harness.sweep.cases import Case

OTHER = NotApplicable("run", "needs restarts", "restarts", "unused")


def struck() -> History:
    """A run whose one answer was bent by the fault."""
    made, turn = History(), {"session": "main", "turn": 1}
    made.started(run="a", scenario="a", wire="anthropic", world="simulate")
    request = ModelRequest("claude", (made.note(user("hi")),))
    made.called(key="main/model#1", seam="model", request=request, **turn)
    made.answered(key="main/model#1", seam="model", status=529, faults=("http.overloaded",), **turn)
    made.ended(how="returned")
    return made


@pytest.mark.parametrize(
    ("lacks", "status"),
    [((UNSHOWN_SESSION,), "held"), ((OTHER,), "open"), ((UNSHOWN_SESSION, OTHER), "open")],
)
def test_a_session_that_the_plain_run_showed_is_not_lacking(
    lacks: tuple[NotApplicable, ...], status: str
) -> None:
    fault = FaultSpec(kind="http.overloaded", when=1)
    case = Case(number=1, run="a", fault=fault, call="main/model#1")
    result = result_of(case, struck(), Verdict("not_applicable", not_applicable=lacks), frozenset())
    assert result.status == status
    assert result.why == ("" if status == "held" else "needs restarts")
