"""A content that was refused and is sent again in a later turn, and what only looks like it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.checks.retries import no_blind_resend
from harness.core.values.messages import (
    Message,
    Opaque,
    Text,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from tests.checks.failing_worlds import FailingWorld
from tests.checks.histories import Story, codes

REFUSED = ("http.picture_refused",)
AGAIN = ["no_blind_resend.same_content"]


def picture(name: str) -> Opaque:
    source = {"type": "url", "url": f"https://x/{name}.png"}
    return Opaque("image", {"type": "image", "source": source})


def shown(*names: str, text: str = "Look.") -> Message:
    return Message("user", (Text(text), *map(picture, names)))


def shot(name: str, call: str = "t1") -> list[Message]:
    return [assistant(ToolUse(call, "shot", {})), results(ToolResult(call, (picture(name),)))]


def told(
    first: list[Message],
    second: list[Message],
    *,
    refused: tuple[str, ...] = REFUSED,
    status: int = 400,
    between: Callable[[FailingWorld], object] = lambda story: story.final("No.", status="failed"),
    **again: Any,
) -> list[str]:
    """The findings of two turns, which are both refused."""
    story = FailingWorld()
    story.turn("one").fail(status, faults=refused, messages=[*first, user("one")])
    between(story)
    story.turn("two").fail(status, faults=refused, messages=[*second, user("two")], **again)
    return codes(no_blind_resend(story.final("No.", status="failed").end()))


def _moved(story: Story) -> None:
    story.final("No.", status="failed")
    story.provider = "openai-chat"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([shown("a")], [shown("a")]),
        ([shown("a")], [shown("a"), user("one"), assistant("No.")]),
        ([shown("a")], [shown("a", text="Look. one")]),
        ([shown("a", "b")], [shown("b", "a", "c")]),
        (shot("a"), [*shot("a"), assistant("No.")]),
        ([shown("a")], [user("Summary."), shown("a")]),
    ],
)
def test_all_that_was_refused_is_sent_again(first: list[Message], second: list[Message]) -> None:
    assert told(first, second) == AGAIN


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([shown("a", "b")], [shown("a")]),
        ([shown("a")], [user("Look."), *shot("b")]),
        (shot("a"), shot("a", "t2")),
        ([shown("a")], [shown("a", text="two")]),
    ],
    ids=["a part of it", "another picture", "taken anew", "sent anew with the message"],
)
def test_less_or_new_content_is_no_repetition(first: list[Message], second: list[Message]) -> None:
    assert told(first, second) == []


@pytest.mark.parametrize(
    ("fault", "status"),
    [("http.rate_limited", 429), ("http.overloaded", 529), ("http.prompt_too_long", 400),
     ("http.invalid_request", 400), ("http.authentication_failed", 401)],
)  # fmt: skip
def test_another_reason_is_no_refused_content(fault: str, status: int) -> None:
    assert told([shown("a")], [shown("a")], refused=(fault,), status=status) == []


def test_another_model_or_provider_may_take_it() -> None:
    assert told([shown("a")], [shown("a")], request={"model": "other"}) == []
    assert told([shown("a")], [shown("a")], between=_moved) == []


def test_a_kill_in_the_refused_turn_comes_before_anything_is_stored_of_it() -> None:
    assert told([shown("a")], [shown("a")], between=lambda story: story.killed()) == []


def test_a_restart_between_the_turns_is_no_excuse() -> None:
    def ends_and_starts(story: FailingWorld) -> None:
        story.final("No.", status="failed")
        story.restart()

    assert told([shown("a")], [shown("a")], between=ends_and_starts) == AGAIN


def test_each_session_learns_by_itself() -> None:
    first, other = shown("a"), shown("a")
    story = Story().turn("one").fail(faults=REFUSED, messages=[first]).final("No.", status="failed")
    story.of("neighbour").turn("two").fail(faults=REFUSED, messages=[other])
    assert codes(no_blind_resend(story.final("No.", status="failed").end())) == []


def test_the_agents_own_settings_are_contents_too() -> None:
    for kind in ("http.thinking_type_refused", "http.tightened_whitespace"):
        assert told([user("a")], [user("a")], refused=(kind,)) == AGAIN


def told_of_tools(first: str, second: str, **more: Any) -> list[str]:
    """The findings of two turns that are refused for their tools."""
    hi = [user("Hello.")]
    tools = ("http.tools_refused",)
    asked = {"tools_offered": True, **more.pop("request", {})}
    story = FailingWorld()
    story.turn("one").fail(400, faults=tools, messages=hi, request={**asked, "tools": first})
    more.pop("between", lambda each: each.final("No.", status="failed"))(story)
    asked |= {"tools": second, **more.pop("again", {})}
    story.turn("two").fail(400, faults=tools, messages=[*hi, user("two")], request=asked)
    return codes(no_blind_resend(story.final("No.", status="failed").end()))


def test_the_same_tools_are_sent_again_after_a_refusal() -> None:
    assert told_of_tools("a", "a") == AGAIN


def test_other_tools_another_model_and_another_provider_are_tries() -> None:
    assert told_of_tools("ab", "a") == []
    assert told_of_tools("a", "a", again={"model": "other"}) == []
    assert told_of_tools("a", "a", between=_moved) == []


def test_a_later_turn_without_tools_sends_nothing_again() -> None:
    story = FailingWorld().turn("one")
    story.fail(400, faults=("http.tools_refused",), messages=[user("Hello.")])
    story.final("No.", status="failed").turn("two").reply("Without tools I can only guess.")
    assert codes(no_blind_resend(story.final("Without tools I can only guess.").end())) == []
