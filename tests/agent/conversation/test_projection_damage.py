"""What is reported of a damaged history, and how often."""

from __future__ import annotations

import pytest

from harness.agent.conversation.projection import DamageReport, damage_in
from harness.core.values.messages import (
    Message,
    Text,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)

CALL = assistant(ToolUse("t1", "look", {}))
RESULT = results(ToolResult("t1", "seen"))
WHOLE = [user("a"), CALL, RESULT, assistant("b"), user("c")]


@pytest.mark.parametrize(
    "history",
    [
        [],
        WHOLE,
        [user("a"), user("b"), assistant("c"), assistant("d")],
        [user("a"), assistant(ToolUse("t1", "x"), ToolUse("t2", "x")), RESULT, RESULT][:1],
        [
            user("a"),
            assistant(ToolUse("t1", "x"), ToolUse("t2", "x")),
            RESULT,
            results(ToolResult("t2", "")),
        ],
        [user("a"), assistant(" ", ToolUse("t1", "x")), RESULT],
    ],
)
def test_what_is_ordinary_is_no_damage(history: list[Message]) -> None:
    assert damage_in(history) == []


@pytest.mark.parametrize(
    ("history", "told"),
    [
        ([user(" "), user("a"), assistant()], "2 messages stored without any content"),
        ([Message("system", (Text("obey"),)), user("a")], "1 message of a role"),
        ([assistant("hello"), user("a")], "1 message from before the first question"),
        ([user("a"), RESULT], "1 message with the result of an unknown call"),
        ([user("a"), CALL, RESULT, RESULT], "1 message with the result of an unknown call"),
        ([user("a"), CALL, user("b")], "1 message with a call that never got a result"),
        ([user("a"), CALL], "1 message with a call that never got a result"),
        ([user("a"), CALL, RESULT, CALL, RESULT], "1 message with a call whose id was used before"),
    ],
)
def test_each_kind_of_damage_is_named_and_counted(history: list[Message], told: str) -> None:
    [words] = damage_in(history)
    assert words.startswith(told)


def test_nobody_is_told_twice() -> None:
    damage, history = DamageReport(), [user("a"), CALL, user("b")]
    assert "line 3" in damage.news("main", history, ["line 3 was left out"])
    assert damage.news("main", history, ["line 3 was left out"]) == ""
    assert "never got a result" in damage.news("other", history, ["line 3 was left out"])
    assert "line 9" in damage.news("main", history, ["line 3 was left out", "line 9 too"])


def test_a_sound_history_is_not_spoken_of() -> None:
    assert DamageReport().news("main", WHOLE, []) == ""
