"""The shape of a finding: what two runs of one mistake have in common, and others have not."""

from __future__ import annotations

import pytest

from harness.core.history.history import History
from harness.core.values.calls import ModelRequest, ToolRequest
from harness.core.values.verdict import Finding
from harness.shrink.shape import shape


def _history() -> History:
    history = History()
    history.called(key="model#1", seam="model", request=ModelRequest("m", ()))
    history.called(key="tool:a", seam="tool", request=ToolRequest("a", "look"))
    history.answered("tool:a", "tool")
    history.ended(how="crashed")
    return history


def _shape(code: str, message: str, *events: int) -> str:
    return shape(Finding(code, message, events), _history())


def test_a_shape_is_the_code_and_the_seams() -> None:
    assert _shape("no_progress_stop.cycle", "a and b run", 3, 2, 1) == (
        "no_progress_stop.cycle (model, tool)"
    )
    assert _shape("run.unplayed_turn", "never played: turn 1", 4) == "run.unplayed_turn (ended)"
    assert _shape("valid_request.V4", "no event") == "valid_request.V4 ()"


SAME = [
    (
        "no_progress_stop.same_call",
        "look runs again with the same input and result, 3 times",
        "read_file runs again with the same input and result, 5 times",
    ),
    (
        "target.crashed",
        "the target crashed: ValueError: no number: 'a' (in parse)",
        "the target crashed: ValueError: no number: 'bcd' (in parse)",
    ),
    (
        "expect.calls",
        "the tool look is called 7 times, expected at most 4",
        "the tool read is called 5 times, expected at most 3",
    ),
    (
        "expect.waits",
        "the waits are 1 s, 2 s, expected 4 s",
        "the waits are 3 s, expected 4 s, 8 s",
    ),
]

OTHER = [
    (
        "target.crashed",
        "the target crashed: ValueError: no number (in parse)",
        "the target crashed: KeyError: no number (in parse)",
    ),
    (
        "target.crashed",
        "the target crashed: ValueError: no number (in parse)",
        "the target crashed: ValueError: no number (in read)",
    ),
    (
        "expect.calls",
        "the model is called 7 times, expected at most 4",
        "the model is called 2 times, expected at least 4",
    ),
    (
        "expect.outcome",
        "the outcome is limit, expected completed",
        "the outcome is none, expected completed",
    ),
]


@pytest.mark.parametrize(("code", "one", "other"), SAME)
def test_the_same_mistake_has_one_shape(code: str, one: str, other: str) -> None:
    assert _shape(code, one, 1) == _shape(code, other, 1)


@pytest.mark.parametrize(("code", "one", "other"), OTHER)
def test_another_mistake_has_another(code: str, one: str, other: str) -> None:
    assert _shape(code, one, 1) != _shape(code, other, 1)
