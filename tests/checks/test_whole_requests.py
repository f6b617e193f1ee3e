"""What makes two requests the same, and what makes the history of two turns the same.

A request is its messages, its fields and its headers. A turn that failed may stay in the history
or be left out of it. Tools may come and go, but not change their places.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.append_only import append_only_prefix
from harness.checks.message_delivery import inbound_exactly_once
from harness.checks.retries import no_blind_resend
from harness.core.history.history import History
from harness.core.values.messages import Message, assistant, user
from tests.checks.chronicle import ALL_SEAMS
from tests.checks.histories import Story, codes, use

NO_STORE = tuple(seam for seam in ALL_SEAMS if seam != "store")


@pytest.mark.parametrize(
    "change",
    [
        {"header_set": 1},
        {"settings": "without thinking.display"},
        {"stream": True},
        {"model": "n"},
        {"max_tokens": 9},
    ],
)
def test_a_refused_request_that_changed_is_another_one(change: dict[str, Any]) -> None:
    fell_back = Story().turn("go").fail(400).reply("ok", request=change).final().end()
    assert not list(no_blind_resend(fell_back))
    stuck = Story().turn("go").fail(400, request=change).fail(400, request=change).end()
    assert codes(no_blind_resend(stuck)) == ["no_blind_resend.same_request"]


def second_turn(first: Story, *messages: Message) -> History:
    """The turn after a first one, whose request begins with these messages."""
    now = [*messages, user("two")]
    return first.turn("two").reply("2", messages=now).final().end()


def worked(status: str) -> Story:
    """A turn with a call, that ends with this status, after a first one."""
    story = Story(seams=NO_STORE).turn("zero").reply("0").final().turn("one")
    story.reply(use("list")).tool().fail(529).say("It failed." if status else "1", status=status)
    return story


BEGINNING = (user("zero"), assistant("0"))


def test_the_messages_of_a_turn_that_failed_may_be_left_out() -> None:
    assert not list(append_only_prefix(second_turn(worked("failed"), *BEGINNING)))
    assert not list(append_only_prefix(second_turn(worked("failed"), *worked("").live)))


@pytest.mark.parametrize("status", ["ok", "failed"])
def test_what_stood_before_it_may_not(status: str) -> None:
    found = codes(append_only_prefix(second_turn(worked(status))))
    assert found == ["append_only_prefix.messages"]


def test_the_messages_of_a_turn_with_a_reply_may_not_be_left_out() -> None:
    found = codes(append_only_prefix(second_turn(worked("ok"), *BEGINNING)))
    assert found == ["append_only_prefix.messages"]


@pytest.mark.parametrize(("kind", "status"), [("error", ""), ("final", "failed")])
def test_the_message_of_a_turn_that_failed_may_stand_before_the_next(
    kind: str, status: str
) -> None:
    story = Story(seams=NO_STORE).turn("one").fail(529).say("It failed.", kind, status)
    assert not list(inbound_exactly_once(second_turn(story, user("one"))))


def test_the_message_of_a_turn_with_a_reply_is_asked_twice() -> None:
    story = Story(seams=NO_STORE).turn("one").reply("1").final()
    found = codes(inbound_exactly_once(second_turn(story, user("one"))))
    assert found == ["inbound_exactly_once.twice"]


LIST, WRITE, POLL = ({"name": name, "input_schema": {}} for name in ("list", "write", "poll"))


def offered(*lists: list[dict[str, Any]]) -> list[str]:
    """What is said of requests that offer these tools, one after another."""
    story = Story().turn("go")
    for tools in lists:
        digest = story.history.value(tools, 0)
        story.reply(use("list"), request={"tools": digest}).tool()
    return codes(append_only_prefix(story.end()))


def test_the_same_tools_in_another_order_are_reported() -> None:
    assert offered([LIST, WRITE], [WRITE, LIST]) == ["append_only_prefix.tools"]
    described = {**WRITE, "description": "Writes"}
    assert offered([LIST, WRITE], [described, LIST]) == ["append_only_prefix.tools"]


@pytest.mark.parametrize(
    "then",
    [
        [LIST, WRITE],
        [LIST, WRITE, POLL],
        [POLL, WRITE, LIST],
        [LIST],
        [],
        [LIST, {**WRITE, "description": "Writes"}],
    ],
)
def test_a_tool_that_comes_or_goes_or_is_described_anew_is_fine(then: list[dict[str, Any]]) -> None:
    assert offered([LIST, WRITE], then) == []


def test_tools_may_stand_in_another_order_after_a_compaction() -> None:
    story = Story().turn("go").reply(use("list")).tool().reply("sum", purpose="compact")
    turned = story.history.value([WRITE, LIST], 0)
    story.reply("ok", request={"tools": turned})
    assert not list(append_only_prefix(story.final().end()))
