"""A short result is cut with a notice: a weakness, unless size or a way to the rest explains it."""

from __future__ import annotations

from typing import Any
from unicodedata import normalize

import pytest

from harness.checks.evidence.cut_results import miscounted
from harness.checks.result_content import result_carried
from harness.core.values.messages import ToolResult, results
from tests.checks.failing_worlds import FailingWorld
from tests.checks.histories import Story, codes, use

PAGE = "\n".join(f"Of the {n} boats that came in at night, one was late." for n in range(12))
CUT = PAGE[:300]


def _found(story: Story, told: str, **settings: Any) -> list[str]:
    story.reply(use("list")).tool(PAGE).told(told)
    return codes(result_carried(story.reply("done").final().end(), **settings))


@pytest.mark.parametrize(
    ("told", "rules"),
    [
        (f"{CUT}\n[... 300 characters more left out ...]", ["result_carried.clipped"]),
        (f"{CUT} (truncated)", ["result_carried.clipped"]),
        (f"{CUT}\n[The rest is stored as result_1.]", []),
        (f"{CUT}\n[Truncated. Call list with offset=300.]", []),
        (f"{CUT}\n[truncated; read_more has the rest]", []),
        (PAGE, []),
    ],
    ids=["counted", "bare", "stored", "offset", "tool", "whole"],
)
def test_a_short_text_is_cut_only_with_a_way_to_the_rest(told: str, rules: list[str]) -> None:
    assert _found(Story().turn("go"), told) == rules


@pytest.mark.parametrize(
    ("note", "beside", "rules"),
    [
        ("(older results omitted)", PAGE.upper() * 2, ["result_carried.clipped"]),
        ("(older results omitted)", PAGE.upper(), []),
        ("(omitted; it is stored as result_1)", PAGE.upper() * 2, []),
        (f"{PAGE}\n[truncated]", PAGE.upper() * 2, []),
    ],
    ids=["cleared", "longer-than-the-others", "stored", "cut"],
)
def test_a_text_is_not_cleared_before_it_is_sent(note: str, beside: str, rules: list[str]) -> None:
    story = Story().turn("go").reply(use("list"), use("poll")).tool(PAGE * 2).told(note)
    story.tool(f"{beside}!").told(f"{beside}!")
    assert codes(result_carried(story.reply("done").final().end())) == rules


def test_a_short_text_may_be_cut_at_a_declared_bound() -> None:
    assert not _found(Story().turn("go"), f"{CUT}\n[truncated]", bound=300)


def test_a_short_text_may_be_cut_after_a_refusal_for_size() -> None:
    assert not _found(FailingWorld().turn("go").fail(413), f"{CUT}\n[truncated]")


NOTE, LATER, OLDER = "(older results omitted)", f"{PAGE}!", PAGE.replace("one was", "two were") * 2


def _refused(cleared: str, older: str, size_bytes: int = 0) -> Story:
    """A result whose request is refused for its size, and what the next one has in its place."""
    story = FailingWorld().turn("go").reply(use("list")).tool(PAGE)
    story.reply(use("poll"), size_bytes=9_000).tool(LATER).fail(413, size_bytes=9_999)
    *before, called, result = story.live
    block, earlier = result.tool_results[0], before[-1].tool_results[0]
    sent = [*before[:-1], results(ToolResult(earlier.id, older)), called]
    sent.append(results(ToolResult(block.id, cleared)))
    return story.reply("done", messages=sent, size_bytes=size_bytes).final()


@pytest.mark.parametrize(
    ("cleared", "older", "size_bytes", "rules"),
    [
        (NOTE, OLDER, 9_500, ["result_carried.clipped"]),
        (NOTE, NOTE, 2_000, ["result_carried.clipped"]),
        (NOTE, NOTE, 8_900, []),
        (LATER, NOTE, 2_000, []),
        (f"{LATER[:200]} (truncated)", NOTE, 2_000, []),
        ("(too large: call list with an offset)", NOTE, 2_000, []),
    ],
    ids=["an-older-one-is-kept", "a-larger-request", "no-room", "kept", "cut", "a-way"],
)
def test_a_text_is_not_cleared_before_a_model_has_read_it(
    cleared: str, older: str, size_bytes: int, rules: list[str]
) -> None:
    assert codes(result_carried(_refused(cleared, older, size_bytes).end())) == rules


def test_signs_that_were_written_otherwise_are_named() -> None:
    said = (
        "The tower stands on 10² m² of rock, ½ of it under water at high tide, and has a ﬁne view."
    )
    story = Story().turn("go").reply(use("list")).tool(said).told(normalize("NFKC", said))
    (found,) = result_carried(story.reply("done").final().end())
    assert "has '2' where its tool said '²'" in found.message


@pytest.mark.parametrize(
    ("notice", "words"),
    [
        ("[100 characters left out]", "100 characters"),
        ("... (1,2 more chars)", "12 characters"),
        ("[1,800 characters were truncated]", ""),
        ("[2,000 characters in all; 100 shown]", ""),
        ("[cut at 200 characters; ask with an offset]", ""),
        ("[500 tokens truncated]", ""),
    ],
)
def test_a_notice_counts_what_is_left_out(notice: str, words: str) -> None:
    said = "x" * 2_000
    told = miscounted(said, f"{said[:200]}\n{notice}")
    assert told.startswith(f"says that {words} are left out") if words else not told
    assert miscounted(f"{said}\n{notice}", f"{said[:200]}\n{notice}") == ""  # the tool's own words


@pytest.mark.parametrize(
    ("told", "too_large", "killed", "rules"),
    [
        ("Its outcome is unknown.", True, False, ["result_carried.failed"]),
        ("Its outcome is unknown.", True, True, []),
        ("Its outcome is unknown.", False, False, []),
        ("(The result is left out: it is too long.)", True, False, []),
        (PAGE, True, False, []),
    ],
)
def test_what_no_model_has_read_is_no_error_later(
    told: str, too_large: bool, killed: bool, rules: list[str]
) -> None:
    story = Story().turn("go").reply(use("list")).tool(PAGE)
    story.fail(400 if too_large else 529, too_large=too_large)
    at = next(n for n, message in enumerate(story.live) if message.tool_results)
    (sent,) = story.live[at].tool_results
    story.live[at] = results(ToolResult(sent.id, told, is_error=True))
    story = story.killed() if killed else story
    assert codes(result_carried(story.reply("done").final().end())) == rules
