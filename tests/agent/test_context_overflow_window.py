"""How much fits: what is shortened until it does, and how its size is estimated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.agent.context_overflow import Escalation, compact
from harness.agent.conversation.history_size import budget_tokens, estimate_tokens, fit, text_length
from harness.core.values.messages import (
    Message,
    Text,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from tests.agent.long_past import LONG, stand
from tests.agent.replies import text, too_long
from tests.agent.stand import Stand


def test_a_huge_message_is_shortened_to_fit_the_window(tmp_path: Path) -> None:
    def windowed(body: dict[str, Any]) -> Any:
        tokens = len(str(body["messages"])) // 4
        return too_long(tokens, 2_000) if tokens > 2_000 else text("fine")

    ran = Stand(tmp_path, [windowed], "x" * 100_000)
    ran.run()
    assert ran.ending == ("final", "ok", "fine")
    assert ran.rows()[0] == user("x" * 100_000)


def test_the_compact_request_fits_the_window(tmp_path: Path) -> None:
    past = [user("ask " + LONG), assistant("say " + LONG)] * 20

    def windowed(body: dict[str, Any]) -> Any:
        tokens = len(str(body["messages"])) // 4
        return too_long(tokens, 8_000) if tokens > 8_000 else text("short enough")

    ran = stand(tmp_path, windowed, past=past, summary=windowed).run()
    assert ran.provider.purposes == ["main", "compact", "main"]
    assert len(str(ran.provider.requests[1]["messages"])) // 4 <= 8_000


@pytest.mark.parametrize(
    "refusal",
    [
        "prompt is too long: 400 tokens > 200 maximum",
        "The input token count (400) exceeds the maximum number of tokens allowed (200).",
        "This model's maximum context length is 200 tokens. However, your messages resulted in 400 "
        "tokens. Please reduce the length of the messages.",
        "This model's maximum context length is 200 tokens. However, you requested 400 tokens (300 "
        "in the messages, 100 in the completion).",
    ],
)
def test_a_refusal_that_names_the_window_corrects_the_budget(refusal: str) -> None:
    refused = [user("x" * 4_000)]
    assert budget_tokens(refused, refusal) == estimate_tokens(refused) // 4


def test_what_is_smaller_by_a_hair_is_not_sent_again() -> None:
    class Full:
        """A transcript of which `left` characters are left when it is rebuilt."""

        def __init__(self, left: int) -> None:
            self.messages, self.left = [user(LONG)], left

        def wire(self) -> list[Message]:
            return self.messages

        def rebuild(self, budget_tokens: int) -> None:
            self.messages = [user(LONG[: self.left])]

    def is_tried(left: int) -> bool:
        escalation = Escalation(compact, stages=("rebuild",))
        return escalation.shrink(Full(left), "too long", None)  # type: ignore[arg-type]

    assert not is_tried(len(LONG) - 30)
    assert is_tried(len(LONG) // 2)


def test_how_much_is_said_does_not_depend_on_the_blocks_that_it_stands_in() -> None:
    whole = results(ToolResult("t1", "one" + "two"))
    parts = results(ToolResult("t1", (Text("one"), Text("two"))))
    assert abs(text_length([whole]) - text_length([parts])) <= 1
    assert estimate_tokens([parts]) > estimate_tokens([whole])


@pytest.mark.parametrize("steps", [0, 2])
def test_the_end_of_a_child_does_not_replace_the_question_of_the_turn(steps: int) -> None:
    past = [user("an old question"), assistant("an old answer")]
    work = [
        row
        for n in range(steps)
        for row in (assistant(ToolUse(f"t{n}", "look", {})), results(ToolResult(f"t{n}", "x")))
    ]
    turn = [user("What did it find?"), *work, user("[main-task has ended] 17 rabbits")]
    kept = fit([*past, *turn], 0)
    assert [message.text.partition("\n")[0] for message in kept] == [m.text for m in turn]
