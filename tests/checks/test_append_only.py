"""The beginning of each request against the one before."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.checks.append_only import append_only_prefix
from harness.core.values.messages import (
    Block,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.core.values.plans import Close
from tests.checks.histories import Story, codes, use


def _asked(*lists: list[Message]) -> Story:
    story = Story(stores=False).turn("a")
    for messages in lists:
        story.reply("x", messages=messages)
    return story


def test_a_beginning_that_changes_is_reported() -> None:
    story = _asked([user("a"), assistant("x"), user("b")], [user("a!"), assistant("x"), user("b")])
    (finding,) = append_only_prefix(story.end())
    assert finding.code == "append_only_prefix.messages"
    assert 'message 0 (user) differs: it was "a", and is "a!"' in finding.message
    assert finding.events[-1] == story.called


def test_an_old_message_that_is_cut_is_told_as_that() -> None:
    whole, cut = user("the log has four lines"), user("the log has")
    story = _asked([whole, assistant("x"), user("b")], [cut, assistant("x"), user("b")])
    (finding,) = append_only_prefix(story.end())
    assert "it is cut, and its last 11 of 22 characters are gone" in finding.message


def test_what_changes_beside_equal_words_is_named() -> None:
    call, failed = assistant(use("list", id="t1")), results(ToolResult("t1", "no", is_error=True))
    rest = [assistant("x"), user("b")]
    whole = [user("a"), call, failed, *rest]
    told = [*whole[:2], results(ToolResult("t1", "no")), *rest]
    (finding,) = append_only_prefix(_asked(whole, told).end())
    assert 'differs: is_error of its result was "True", and is "False"' in finding.message
    renamed = assistant(use("list", id="t2")), results(ToolResult("t2", "no"))
    (finding,) = append_only_prefix(_asked(whole, [user("a"), *renamed, *rest]).end())
    assert 'differs: id of its call was "t1", and is "t2"' in finding.message


def test_a_beginning_that_gets_shorter_is_reported() -> None:
    story = _asked([user("a"), assistant("x"), user("b")], [user("b")])
    assert codes(append_only_prefix(story.end())) == ["append_only_prefix.messages"]


def test_a_window_that_slides_is_told_as_messages_that_are_gone() -> None:
    whole = [user("a"), assistant("x"), user("b"), assistant("y"), user("c")]
    (finding,) = append_only_prefix(_asked(whole, [*whole[2:], assistant("z")]).end())
    assert "the 2 oldest messages are gone" in finding.message
    (finding,) = append_only_prefix(_asked(whole, whole[4:]).end())
    assert "the 4 oldest messages are gone" in finding.message
    (finding,) = append_only_prefix(_asked(whole, [*whole[:1], *whole[3:]]).end())
    assert "message 1 (assistant) and 1 after it are gone" in finding.message
    (finding,) = append_only_prefix(_asked(whole, [*whole[:1], *whole[2:]]).end())
    assert "message 1 (assistant) is gone" in finding.message


def test_messages_that_stand_later_are_not_told_as_gone() -> None:
    whole = [user("a"), assistant("x"), user("b"), assistant("y"), user("c")]
    (finding,) = append_only_prefix(_asked(whole, [*whole[2:4], *whole[:2], user("c")]).end())
    assert "the 2 oldest messages stand later" in finding.message
    (finding,) = append_only_prefix(_asked(whole, [*whole[:1], *whole[2:4], whole[1]]).end())
    assert "message 1 (assistant) stands later" in finding.message
    begun = [user("it began before this"), assistant("y"), *whole[:3]]
    (finding,) = append_only_prefix(_asked(whole, begun).end())
    assert 'message 0 (user) stands later, behind "it began before this"' in finding.message


def test_a_fallback_with_less_of_the_request_is_told_as_that() -> None:
    whole = [user("a"), assistant("x"), user("b")]
    story = Story(stores=False).turn("a").reply("x", messages=whole, status=529)
    story.reply("x", messages=whole[2:], tools=False)
    (finding,) = append_only_prefix(story.end())
    assert finding.message == (
        "main/model#2 replaces main/model#1, which failed, and lacks 2 of its 3 messages and "
        "its tools"
    )


@pytest.mark.parametrize(("status", "found"), [(413, False), (503, True)])
def test_a_refusal_for_size_that_breaks_off_may_have_been_read(status: int, found: bool) -> None:
    whole = [user("a"), assistant("x"), user("b")]
    broken = {"steps": (Close(),), "faults": ("transport.answered_before_read",)}
    story = Story(stores=False).turn("a").reply("x", messages=whole, status=status, **broken)
    story.reply("x", messages=[user("(left out)"), *whole[2:]])
    assert bool(list(append_only_prefix(story.end()))) is found


def test_a_history_that_only_grows_is_fine() -> None:
    story = Story().turn("a").reply(use("list")).tool().reply("x")
    assert not list(append_only_prefix(story.end()))


def test_a_hint_that_is_said_once_and_an_answer_that_goes_on_are_fine() -> None:
    first = [user("a"), assistant("x")]
    story = _asked(first, [*first, user("hint")], [user("a"), assistant("x", "y"), user("b")])
    assert not list(append_only_prefix(story.end()))


FORMS = [
    (Text("a"),),
    (Text("a", {"citations": []}),),
    (Text("a"), Text("")),
    "b",
    (Text("b"),),
]


@pytest.mark.parametrize("content", FORMS)
def test_a_result_may_be_a_text_or_its_block(content: Any) -> None:
    begun, more = [user("a"), assistant(use("list", id="t"))], [assistant("x"), user("b")]
    one, other = ([*begun, results(ToolResult("t", each)), *more] for each in ("a", content))
    for lists in ([one, [*other, *more]], [other, [*one, *more]]):
        found = codes(append_only_prefix(_asked(*lists).end()))
        assert found == ([] if content == FORMS[0] else ["append_only_prefix.messages"])


def test_a_compaction_or_a_refusal_between_excuses_another_beginning() -> None:
    before, after = [user("a"), assistant("x"), user("b")], [user("short"), assistant("x")]
    story = _asked(before).reply("sum", purpose="compact")
    assert not list(append_only_prefix(story.reply("x", messages=after).end()))
    refused = Story().turn("a").fail(400, "V23", refused=("V23",), messages=before)
    assert not list(append_only_prefix(refused.reply("x", messages=after).end()))


def _rebuilt(status: int, begins: str) -> Story:
    """A turn that was too long and went on without its past, and one that begins with `begins`."""
    whole = [user("a"), assistant("x"), user("b")]
    part = [user("b (some is left out)"), assistant("step"), user("result")]
    story = Story().turn("b").fail(400, "V23", refused=("V23",), messages=whole)
    story.reply("sum", status=status, purpose="compact").reply("y", messages=part).final()
    now = [user(begins), assistant("x"), user("b"), assistant("y"), user("c")]
    return story.turn("c").reply("z", messages=now).final()


def test_a_turn_goes_back_to_the_whole_history_when_no_compaction_helped() -> None:
    assert not list(append_only_prefix(_rebuilt(529, "a").end()))
    for changed in (_rebuilt(529, "a!"), _rebuilt(200, "a")):
        assert codes(append_only_prefix(changed.end())) == ["append_only_prefix.messages"]


def test_a_whole_history_that_comes_back_within_the_turn_is_reported() -> None:
    whole, part = [user("a"), assistant("x"), user("b")], [user("b")]
    story = Story().turn("b").fail(400, "V23", refused=("V23",), messages=whole)
    story.reply(use("list"), messages=part).reply("y", messages=[*part, assistant("x"), user("c")])
    assert not list(append_only_prefix(story.end()))
    story.reply("z", messages=whole)
    assert codes(append_only_prefix(story.history)) == ["append_only_prefix.messages"]


def test_a_turn_goes_back_to_what_was_stored_after_a_compaction_that_helped() -> None:
    told, kept = user("summary"), [user("summary"), assistant("x"), user("b")]
    story = Story().turn("b").fail(400, "V23", refused=("V23",), messages=[user("a"), user("b")])
    story.reply("sum", purpose="compact").reply(use("list"), messages=kept)
    story.fail(400, "V23", refused=("V23",), messages=[*kept, assistant("y"), user("r")])
    story.reply("z", messages=[user("b (some is left out)"), assistant("y"), user("r")]).final()
    now = [told, assistant("x"), user("b"), assistant("z"), user("c")]
    assert not list(append_only_prefix(story.turn("c").reply("w", messages=now).final().end()))


SIGNED = (
    ToolUse("c1", "list", {}, {"thoughtSignature": "s"}),
    Thinking("hm", "s"),
    Text("", {"thoughtSignature": "s"}),
)


@pytest.mark.parametrize("block", SIGNED)
def test_what_signs_thought_may_be_left_out_for_another_model(block: Block) -> None:
    bare = (msgspec.structs.replace(block, extra={}),) if isinstance(block, ToolUse) else ()
    lists = [
        [user("a"), Message("assistant", (*blocks, Text("x"))), user("b"), user("c")]
        for blocks in ((block,), bare, (block,))
    ]
    assert _found(lists, "one", "two", "one") == []
    assert _found(lists, "one", "one", "one") == ["append_only_prefix.messages"] * 2
    lists[1][0] = user("a!")
    assert _found(lists, "one", "two", "one") == ["append_only_prefix.messages"] * 2


def _found(lists: list[list[Message]], *models: str) -> list[str]:
    story = Story(stores=False).turn("a")
    for messages, model in zip(lists, models, strict=True):
        story.reply("x", messages=messages, request={"model": model})
    return codes(append_only_prefix(story.end()))
