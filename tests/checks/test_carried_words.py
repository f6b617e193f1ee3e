"""A part of a conversation with a long prompt around it is smaller, for any token count.

The conversation of a scenario has a few words, and a real agent's prompt for a summary has a page.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.checks.conversation import history_faithful
from harness.checks.evidence.carried_words import is_cut_with_notice
from harness.checks.message_delivery import inbound_exactly_once
from harness.checks.prompt_size import compaction_preserves, compaction_progress, request_fits
from harness.core.values.messages import Message, ToolResult, assistant, results, user
from tests.checks.histories import Story, codes, use

PAGE = user("Tell what matters of this conversation, in these nine sections: " + "and so on " * 40)
PAST = [
    user("Where is the ship?"),
    assistant("I look it up.", use("list", {"path": "/ships"}, id="a")),
    results(ToolResult("a", "It left the harbour at nine in the morning.")),
    assistant("At sea."),
]
NOW = user("When does it come back?")
OVER = {"status": 400, "error": "V23", "refused": ("V23",), "tokens": 748}


def again(*messages: Message, tokens: int = 810) -> list[str]:
    """What is said of a request that follows one that was too large."""
    story = Story().turn(NOW.text).reply(messages=[*PAST, NOW], **OVER)
    return codes(request_fits(story.reply("x", messages=list(messages), tokens=tokens).end()))


def test_a_part_of_the_conversation_below_a_page_of_prompt_is_smaller() -> None:
    assert again(*PAST[:2], PAGE) == []
    assert again(NOW, PAGE) == []


def test_the_conversation_as_a_whole_is_not_smaller_wherever_it_stands() -> None:
    assert again(*PAST, NOW) == ["request_fits.again"]
    assert again(*PAST, NOW, PAGE) == ["request_fits.again"]
    flat = [message.text + str([r.text for r in message.tool_results]) for message in PAST]
    calls = PAST[1].tool_uses[0]
    told = user(f"{PAGE.text} {flat} {calls.name} " + '{"path":"/ships"} ' + NOW.text)
    assert again(told) == ["request_fits.again"]


def test_a_few_words_less_are_no_part() -> None:
    assert again(*PAST[:3], NOW, PAGE) == ["request_fits.again"]


def test_no_agent_has_a_prompt_of_ten_thousand_tokens() -> None:
    assert again(NOW, PAGE, tokens=10_748) == ["request_fits.again"]


def test_one_message_alone_cannot_be_left_out() -> None:
    story = Story().turn("go").reply(messages=[user("one")], **OVER)
    story.reply("x", messages=[user("another")], tokens=810)
    assert codes(request_fits(story.end())) == ["request_fits.again"]


@pytest.mark.parametrize(("part", "found"), [(1, []), (5, ["compaction_preserves.too_large"])])
def test_a_summary_in_parts_may_have_a_long_prompt(part: int, found: list[str]) -> None:
    story = Story().turn(NOW.text).reply("x", messages=[*PAST, NOW], tokens=700)
    asked = [*[*PAST, NOW][:part], PAGE]
    story.reply(purpose="compact", messages=asked, **{**OVER, "tokens": 640})
    assert codes(compaction_preserves(story.end())) == found


@pytest.mark.parametrize(
    ("summary", "found"),
    [("The ship left.", []), ("word " * 60, ["compaction_progress.larger"])],
)
def test_words_around_a_summary_do_not_make_it_larger(summary: str, found: list[str]) -> None:
    story = Story().turn(NOW.text).reply(messages=[*PAST, NOW], **OVER)
    story.reply(summary, purpose="compact", messages=[*PAST, PAGE])
    told = user(f"This is what was said before: {summary} {PAGE.text}")
    story.reply("x", messages=[told, assistant("I see."), NOW], tokens=810)
    assert codes(compaction_progress(story.end())) == found


@given(st.text("abcdef", min_size=40, max_size=90), st.integers(12, 20), st.integers(12, 19))
def test_a_cut_is_told_by_words_in_place_of_the_middle(said: str, head: int, end: int) -> None:
    kept = said[:head], said[-end:]
    assert is_cut_with_notice(said, "before " + "[... shortened ...]".join(kept) + " after")
    assert not is_cut_with_notice(said, "".join(kept))
    assert not is_cut_with_notice(said, said[:head] + "[... shortened ...]")
    assert not is_cut_with_notice(said, "[... shortened ...]" + said[-end:])


LONG = "Please look at the harbour, then at the ship, and tell me when it comes back to Oslo."


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        (f"{LONG[:20]} [... shortened ...] {LONG[-20:]}", []),
        (f"{LONG[:20]} {LONG[-20:]}", ["inbound_exactly_once.changed"]),
        (LONG[:40], ["inbound_exactly_once.changed"]),
    ],
)
def test_a_long_message_may_be_cut_with_a_notice(sent: str, found: list[str]) -> None:
    story = Story().turn(LONG).reply("At nine.", messages=[user(sent)]).final()
    assert codes(inbound_exactly_once(story.end())) == found


def test_a_reply_may_be_sent_on_with_a_notice_in_its_middle() -> None:
    def forgotten(sent: str) -> list[str]:
        story = Story().turn("one").reply(LONG).final().turn("two")
        story.reply("x", messages=[user("one"), assistant(sent), user("two")])
        return codes(history_faithful(story.final().end()))

    assert forgotten(f"{LONG[:20]} [... shortened ...] {LONG[-20:]}") == []
    assert forgotten(f"{LONG[:20]} {LONG[-20:]}") == ["history_faithful.forgotten_reply"]


@pytest.mark.parametrize(("calls", "found"), [([use("list")], []), ([], ["request_fits.again"])])
def test_words_of_a_refusal_beside_a_call_refuse_nothing(calls: Any, found: list[str]) -> None:
    story = Story().turn(NOW.text).reply("Prompt is too long", *calls, too_large=True, tokens=10)
    if calls:
        story.tool("At sea.")
    assert codes(request_fits(story.reply("x", tokens=20).end())) == found


@pytest.mark.parametrize(
    ("sizes", "found"),
    [((90, 60, 30), []), ((90,), ["compaction_preserves.too_large"])],
)
def test_a_summary_that_is_asked_for_of_less_and_less_is_one_compaction(
    sizes: tuple[int, ...], found: list[str]
) -> None:
    """A halving of what is summed up ends by itself."""
    story = Story().turn(NOW.text).reply(messages=[*PAST, NOW], **{**OVER, "tokens": 100})
    for size in sizes:
        rows = [*PAST, NOW] if size == 90 else [user(f"half of {size}")]
        story.reply(purpose="compact", messages=rows, **{**OVER, "tokens": size, "too_large": True})
    story.reply("sum", purpose="compact", messages=[user("half of 10")], tokens=200)
    history = story.end()
    assert codes(compaction_preserves(history)) == found
    assert "compaction_progress.too_many" not in codes(compaction_progress(history))
