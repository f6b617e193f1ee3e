"""InterCode: parallel lists of turns, a transcript a task."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.recordings.recognition import format_named
from harness.recordings.transcript_counts import counts
from tests.recordings.documents import ASKED, SAMPLES

INTERCODE = format_named("intercode")


def _task(environment: str = "ic_bash", **turns: Any) -> dict[str, Any]:
    return {"environment": environment, "query": ASKED, "turn_history": turns}


def _read(**tasks: Any) -> Any:
    return INTERCODE.read(json.dumps(tasks).encode())


def test_a_turn_is_a_call_and_its_result() -> None:
    (found,) = INTERCODE.read(SAMPLES["intercode"][1]).transcripts
    assert (found.name, found.task) == ("task 0", ASKED)
    assert [use.name for m in found.messages for use in m.tool_uses] == ["bash", "bash"]
    assert [r.is_error for m in found.messages for r in m.tool_results] == [False, True]


def test_the_same_action_again_and_again_is_a_run() -> None:
    turns = _task(actions=["ls"] * 4, observations=["no"] * 4, valid_action=[False] * 4)
    (found,) = _read(a=turns).transcripts
    assert counts(found)["same_call_runs"] == [["bash", 4, 0]]
    assert counts(found)["same_fail_runs_explicit"] == [["bash", 4, 0]]


@pytest.mark.parametrize(
    ("environment", "name"), [("ic_python", "python"), ("ic_ctf", "bash"), ("", "action")]
)
def test_a_call_is_named_by_the_environment(environment: str, name: str) -> None:
    (found,) = _read(a=_task(environment, actions=["x"], observations=["y"])).transcripts
    assert found.messages[0].tool_uses[0].name == name


def test_lists_of_different_lengths_are_read_as_far_as_actions_go() -> None:
    (found,) = _read(a=_task(actions=["", "b"], observations=["x"] * 1)).transcripts
    counted = counts(found)
    assert (counted["tool_calls"], counted["tool_results"], counted["pending_calls"]) == (2, 1, 1)
    assert counted["empty_input_calls"] == 1
    (found,) = _read(a=_task(actions=["a"], observations=["x", "y"])).transcripts
    assert counts(found)["tool_results"] == 1


def test_a_task_without_turns_is_a_refusal() -> None:
    recording = _read(a=_task(actions=["x"], observations=["y"]), b=_task(actions=[]), c=3)
    assert len(recording.transcripts) == 1
    assert recording.refused == {"a task without turns": 2}
    with pytest.raises(InputError, match="no task has a turn_history"):
        _read(b=_task(actions=[]))
