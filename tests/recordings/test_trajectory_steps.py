"""Steps: an action with what was observed, as two messages that belong together."""

from __future__ import annotations

import pytest

from harness.core.values.messages import Message, Text, ToolResult, ToolUse
from harness.recordings.transcripts import TrajectoryStep, command_name


def test_a_step_is_a_call_and_its_result() -> None:
    step = TrajectoryStep(
        id="1", name="ls", input="ls", thought="look", observation="a", failed=True
    )
    assert list(step.messages()) == [
        Message("assistant", (Text("look"), ToolUse("1", "ls", "ls"))),
        Message("tool", (ToolResult("1", "a", is_error=True),)),
    ]


def test_a_step_that_was_not_observed_has_no_result() -> None:
    (only,) = TrajectoryStep(id="1", name="ls", input="ls", thought=" ").messages()
    assert only == Message("assistant", (ToolUse("1", "ls", "ls"),))
    assert len(list(TrajectoryStep(id="1", name="ls", input="ls", observation="").messages())) == 2


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("ls -a\n", "ls"),
        ("  cd x && ls", "cd"),
        ("./rock 3", "rock"),
        ("/usr/bin/g++ a", "g"),
        ("a.out;b", "a_out_b"),
        ("", "action"),
        ("\n", "action"),
        ("/", "action"),
        ("w" * 99, "w" * 64),
    ],
)
def test_a_command_line_is_called_by_its_program(line: str, name: str) -> None:
    assert command_name(line) == name
