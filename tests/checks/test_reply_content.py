"""What the user reads is what the model answered: each rule, and beside it what an agent may do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.checks.message_delivery import outbound_once
from harness.checks.reply_content import reply_carried
from harness.checks.truthfulness import truthful_outcome
from harness.core.values.messages import Opaque, Text, Thinking
from harness.core.values.profile import SILENT
from tests.checks.histories import Story, codes, use

LONG = (
    "Take **five hundred** grams of flour & three hundred of water.\n\n"
    "- Knead it for ten minutes, see [the video](https://example.org/knead?a=1).\n"
    "- Bake it for forty minutes; never open the oven in the first twenty. 🥖 لا تفتح الفرن\n"
)
LAST = len(LONG) - 60


def _answered(said: str = LONG) -> Story:
    return Story().turn("How do I bake?").reply(said)


def _rules(story: Story) -> list[str]:
    return [code.removeprefix("reply_carried.") for code in codes(reply_carried(story.end()))]


def _first(story: Story) -> str:
    return next(iter(reply_carried(story.end()))).message


HTML = (
    "<p>Take <b>five hundred</b> grams of flour &amp; three hundred of water.</p><ul><li>Knead it "
    'for ten minutes, see <a href="https://example.org/knead?a=1">the video</a>.</li><li>Bake it '
    "for forty minutes; never open the oven in the first twenty. 🥖 لا تفتح الفرن</li></ul>"
)
PLAIN = (
    "Take five hundred grams of flour & three hundred of water. * Knead it for ten minutes, see "
    "the video. * Bake it for forty minutes; never open the oven in the first twenty. 🥖 "
    "لا تفتح الفرن"
)


@pytest.mark.parametrize(
    "text",
    [
        LONG,
        f"Bot: {LONG}",
        f"{LONG}\n\n— 312 tokens, 0.4 cents",
        LONG.replace("\n\n", "\r\n").strip(),
        HTML,
        PLAIN,
        f"{LONG[:80]}\n[The answer was cut: 170 of 250 characters are not shown.]",
        f"{LONG[:80]} (the rest of this reply does not fit here)",
        f"You asked: how do I bake?\n{LONG}",
    ],
)
def test_an_agent_may_write_an_answer_otherwise(text: str) -> None:
    assert not _rules(_answered().final(text))


@pytest.mark.parametrize(
    ("text", "rule", "words"),
    [
        (LONG[:17], "cut", "only the first 17 characters of an answer of 2"),
        (f"{LONG[:LAST]}... (truncated)", "cut", f"only the first {LAST} characters of an"),
        (LONG[-90:], "cut", "only the last "),
        (LONG[:60] + LONG[LAST:], "cut", "an answer that lacks or changes its middle, from"),
        (
            LONG.encode("ascii", "ignore").decode(),
            "cut",
            "the answer without some of its letters beyond ASCII",
        ),
        (LONG + LONG, "doubled", "the answer 2 times"),
        (f"Here it is: {LONG}\n{LONG}", "doubled", "the answer 2 times"),
        ("Your request was processed.", "replaced", '"Your request was processed." in place of'),
        ("undefined", "replaced", '"undefined" in place of the answer, "'),
        ("How do I bake?", "replaced", '"How do I bake?" in place of the answer'),
        (
            LONG.replace("- Knead", "\n").replace("twenty.", "ten."),
            "cut",
            "an answer that lacks or changes its middle",
        ),
        (LONG.lower(), "cut", "only the "),
        (LONG.replace("three hundred", "four hundred"), "cut", "an answer that lacks or changes"),
    ],
)
def test_a_reply_that_is_not_the_answer_is_named(text: str, rule: str, words: str) -> None:
    story = _answered().final(text)
    assert _rules(story) == [rule]
    assert _first(story).startswith(f"turn 1 of main: the user reads {words}")


def test_a_short_answer_is_not_asked() -> None:
    assert not _rules(_answered("OK.").final("Done with it."))
    assert _rules(_answered("Paid").final("PaidPaid")) == ["doubled"]
    assert not _rules(_answered("Paid").final("Status: paid. Paid by: Ada"))


def test_an_answer_that_the_model_said_twice_is_read_twice() -> None:
    story = Story().turn("go").reply(LONG, use("list")).tool().reply(LONG)
    assert not _rules(story.final(f"{LONG}\n{LONG}"))


@pytest.mark.parametrize(
    "kinds", [("partial", "partial", "final"), ("partial", "final"), ("notice", "final")]
)
def test_several_messages_may_give_the_whole(kinds: tuple[Any, ...]) -> None:
    size = -(-len(LONG) // len(kinds))
    story = _answered()
    for at, kind in enumerate(kinds):
        story.say(LONG[at * size : (at + 1) * size], kind)
    assert not _rules(story)


@pytest.mark.parametrize(("gone", "rules"), [(0, []), (12, ["cut"])])
def test_a_word_of_the_agent_may_stand_between_two_pieces(gone: int, rules: list[str]) -> None:
    """A piece that is sent again in doubt says so, and a stream parts an answer anywhere."""
    story = _answered().say(LONG[:70], "partial")
    assert _rules(story.final(f"(You may have this already.) {LONG[70 + gone :]}")) == rules


def test_pieces_and_the_whole_after_them_are_one_reply() -> None:
    story = _answered()
    for at in range(0, len(LONG), 7):
        story.say(LONG[at : at + 7], "partial")
    assert not _rules(story.final(LONG))


@pytest.mark.parametrize(
    ("text", "kind", "status"),
    [
        ("I may not talk about this.", "final", "blocked"),
        ("Shall I go on?", "final", "waiting"),
        ("Stopped.", "final", "cancelled"),
        ("I stopped after too many steps.", "error", ""),
        (LONG[:40], "final", "truncated"),
        ("Ask again tomorrow, please.", "final", "limit"),
    ],
)
def test_another_status_has_words_of_its_own(text: str, kind: str, status: str) -> None:
    assert not _rules(_answered().say(text, kind, status))


def test_a_cut_last_word_is_a_part_of_an_answer_whatever_its_status() -> None:
    assert _rules(_answered().say(LONG[:30], "final", "failed")) == ["cut"]
    assert _rules(_answered().say(LONG + LONG, "final", "failed")) == ["doubled"]


def test_a_blocked_answer_does_not_stay_as_said() -> None:
    kept = _answered().say("I may not talk about this.", "final", "blocked")
    assert _rules(kept.turn("Why?").reply("Because.").final()) == ["blocked"]
    dropped = _answered().say("I may not talk about this.", "final", "blocked")
    del dropped.live[-1]
    assert not _rules(dropped.turn("Why?").reply("Because.").final())


def _beside_a_call() -> Story:
    story = Story().turn("go").reply("I will look at the oven.", use("list")).tool()
    return story.reply("It is hot enough for bread.")


def test_the_words_before_a_call_are_not_the_answer() -> None:
    assert _rules(_beside_a_call().final("I will look at the oven.")) == ["before_call"]
    both = "I will look at the oven.\nIt is hot enough for bread."
    assert not _rules(_beside_a_call().final(both))
    partial = _beside_a_call().say("I will look at the oven.", "partial")
    assert not _rules(partial.final("It is hot enough for bread."))


def test_the_answer_of_another_turn_is_named() -> None:
    story = Story().turn("one").reply("The oven is hot.").final()
    story.turn("two").reply("The stove is cold.").final("The oven is hot.")
    assert _rules(story) == ["other"]
    assert "an answer of turn 1 of main, and not the one of turn 2" in _first(story)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("The oven is hot.", ["other"]), ("The model gave no answer.", [])],
)
def test_an_old_answer_does_not_stand_for_a_blank_one(text: str, expected: list[str]) -> None:
    story = Story().turn("one").reply("The oven is hot.").final()
    assert _rules(story.turn("two").reply(Text("")).final(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I will look at the oven.", ["stand_in"]),
        ("It has 250 degrees.", ["stand_in"]),
        ("I will look at the oven. The model said no more.", []),
        ("The oven said: It has 250 degrees.", []),
        ("Done, and nothing more was said.", []),
    ],
)
def test_the_words_of_a_call_do_not_stand_for_a_blank_answer(
    text: str, expected: list[str]
) -> None:
    story = Story().turn("Is it hot?").reply(Text("I will look at the oven."), use("look"))
    story.tool("It has 250 degrees.").reply(Text(""))
    assert _rules(story.final(text)) == expected


def test_an_answer_that_was_rejected_is_not_the_answer() -> None:
    story = Story().turn("go").reply("A first draft of it.").reply("The second and better text.")
    assert not _rules(story)
    assert not _rules(story.final("The second and better text."))
    story = Story().turn("go").reply("A first draft of it.").reply("The second and better text.")
    assert _rules(story.final("A first draft of it.")) == ["earlier"]


def test_of_two_requests_side_by_side_either_is_the_answer() -> None:
    story = Story().turn("go")
    asked = [*story.live]
    story.reply("The one that is better.").reply("A title for the chat", messages=asked)
    assert not _rules(story.final("The one that is better."))


def test_a_truncated_answer_is_joined_with_its_continuation() -> None:
    first, rest = "Take five hundred grams of flour, then", "knead it for ten minutes."
    for text, rules in ((rest, ["continuation"]), (f"{first} {rest}", [])):
        story = Story().turn("go").reply(first, stop="max_tokens").reply(rest).final(text)
        assert _rules(story) == rules
    story = Story().turn("go").reply("Take five hundred gra", stop="max_tokens")
    story.reply("ms of flour").final("Take five hundred grams of flour")
    assert not _rules(story)  # cut inside a word
    story = Story().turn("go").reply(first, stop="max_tokens")
    del story.live[-1]  # asked for again from its beginning, with more tokens
    assert not _rules(story.reply("Take flour and knead it.").final())
    story = Story().turn("one").reply(first).final().turn("two").reply(first, stop="max_tokens")
    del story.live[-1]  # the answer of the turn before is the same, and stays
    assert not _rules(story.reply("Take flour and knead it.").final())


@pytest.mark.parametrize(
    ("sent", "rules"),
    [
        ("He wants it short. Ada is a mathematician.", ["thought"]),
        ("Ada is a mathematician.", []),
        ("> He wants it short.\n\nAda is a mathematician.", []),
        ("Thoughts: He wants it short.\nAnswer: Ada is a mathematician.", []),
    ],
)
def test_thoughts_are_no_part_of_the_answer(sent: str, rules: list[str]) -> None:
    said = Thinking("He wants it short.", signature="s"), Text("Ada is a mathematician.")
    assert _rules(Story().turn("Who is Ada?").reply(*said).final(sent)) == rules


MARKED = "Use `a < b` & **not** c."
ESCAPED = "Use `a &lt; b` &amp; **not** c."


@pytest.mark.parametrize(
    ("said", "sent", "rules"),
    [
        (MARKED, ESCAPED, ["escaped"]),
        (MARKED, f"Bot: {ESCAPED}", ["escaped"]),
        ('Say **"no"**.', "Say **&quot;no&quot;**.", ["escaped"]),
        (MARKED, MARKED, []),
        (MARKED, "Use <code>a &lt; b</code> &amp; <b>not</b> c.", []),
        (MARKED, f"<pre>{ESCAPED}</pre>", []),
        ("Use a < b & not c.", "Use a &lt; b &amp; not c.", []),
        (ESCAPED, ESCAPED, []),
        (MARKED, f"{MARKED}\n\nIn HTML: {ESCAPED}", []),
    ],
    ids=["plain", "prefix", "quotes", "whole", "page", "block", "unmarked", "said", "both"],
)
def test_an_answer_is_escaped_for_a_page_only(said: str, sent: str, rules: list[str]) -> None:
    assert _rules(_answered(said).final(sent)) == rules


def test_broken_streams_are_not_sewn_together() -> None:
    broken: dict[str, Any] = {"outcome": "error", "complete": False, "stop": None}
    for text, rules in (
        (f"Take five hu{LONG}", ["sewn"]),
        (LONG, []),
        (f"Hm. {LONG}", []),
        (f"{LONG}{LONG}", ["doubled"]),
    ):
        story = Story().turn("go").reply("Take **five hundred", **broken)
        del story.live[-1]
        assert _rules(story.reply(LONG).final(text)) == rules
    continued = Story().turn("go").reply("Take **five hundred", **broken)
    assert not _rules(
        continued.reply(" grams of flour.").final("Take **five hundred grams of flour.")
    )


@pytest.mark.parametrize("said", ["NO_REPLY", "<think>Nothing to do here.</think>\n NO_REPLY"])
def test_what_is_silent_needs_no_reply(said: str) -> None:
    story = _answered(said).turn("Are you there?").reply("Yes, here.").final()
    checks = (reply_carried, outbound_once, truthful_outcome)
    assert [codes(check(story.end())) for check in checks] == [[], [], []]
    spoken = _answered("Nothing to do here.").turn("Are you there?").reply("Yes, here.").final()
    assert codes(outbound_once(spoken.end())) == ["outbound_once.missing"]


def test_thinking_in_a_text_is_not_for_the_user() -> None:
    said = f"<think>The user wants a recipe.\nI have one.</think>{LONG}"
    assert not _rules(_answered(said).final(LONG))
    assert not _rules(_answered(said).final(said))
    assert _rules(_answered(said).final("The user wants a recipe.")) == ["replaced"]


def test_the_profile_names_other_silent_words() -> None:
    for silent, count in ((("HEARTBEAT_OK",), 0), (SILENT, 1)):
        story = Story(settings={"profile": {"silent": silent}}).turn("tick").reply("HEARTBEAT_OK")
        story.turn("Are you there?").reply("Yes, here.").final()
        assert len(list(outbound_once(story.end()))) == count


def test_a_turn_that_was_cancelled_is_not_asked() -> None:
    assert not _rules(_answered().cancel().final("Stopped before the end."))


@given(
    st.text(st.characters(exclude_characters="xyz"), max_size=300),
    st.text("xyz -*\n", max_size=40),
)
def test_added_words_are_no_finding_and_neither_is_the_answer_itself(said: str, more: str) -> None:
    assert not _rules(_answered(said).final(said))
    assert not _rules(_answered(said).final(f"{said}\n{more}"))


STEPS = (
    "1. Knead it well [1].\n2. Bake it【4†recipes】for an hour.\n- [x] Eat it, see ![it](a.png)."
)


def test_numbers_boxes_and_citations_of_an_answer_may_go() -> None:
    html = "<ol><li>Knead it well.</li><li>Bake it for an hour.</li></ol>☑ Eat it, see it."
    assert not _rules(_answered(STEPS).final(html))
    assert _rules(_answered(STEPS).final("1. Knead it well [1].")) == ["cut"]


def test_a_value_of_a_structured_answer_is_a_reply() -> None:
    said = '{"reason": "It has risen twice.", "answer": "Bake it for an hour.", "sure": 0.9}'
    assert not _rules(_answered(said).final("Bake it for an hour."))
    assert not _rules(_answered(said).final(said))
    assert _rules(_answered(said).final("Bake")) == ["cut"]


def test_words_before_a_search_of_the_provider_are_not_the_answer() -> None:
    search = Opaque("server_tool_use", {"type": "server_tool_use", "name": "web_search"})
    blocks = Text("I will look it up."), search, Text("It has risen twice.")
    assert not _rules(Story().turn("go").reply(*blocks).final("It has risen twice."))
    assert _rules(Story().turn("go").reply(*blocks).final("I will look it up.")) == ["replaced"]


def test_words_of_an_earlier_turn_beside_the_answer_are_found() -> None:
    story = Story().turn("Is it hot?").reply("I will look at the oven.", use("oven"))
    story.tool("230 degrees").told("230 degrees").reply("It is hot enough.").final()
    story.turn("Thanks.").reply("You are welcome, and enjoy your bread.")
    said = "I will look at the oven.\nYou are welcome, and enjoy your bread."
    assert _rules(story.final(said)) == ["stale"]
    assert "words of turn 1 of main beside the answer" in _first(story)


@pytest.mark.parametrize(
    ("question", "answer", "status"),
    [
        ("Why do you write 'The oven is hot enough'?", "Because it is so.", "ok"),
        ("And now?", "As I said, the oven is hot enough. It stays so.", "ok"),
        ("And now?", "It stays so.", "failed"),
    ],
)
def test_old_words_may_stand_there_for_a_reason(question: str, answer: str, status: str) -> None:
    """The user or the model said them in the turn, or the user may not have read them before."""
    story = Story().turn("Is it hot?").reply("The oven is hot enough.").final(status=status)
    story.turn(question).reply(answer)
    assert _rules(story.final(f"The oven is hot enough.\n{answer}")) == []


def test_a_cut_answer_whose_last_letter_is_read_by_chance_lacks_its_end() -> None:
    said = "Take the flour, then the water, and wait for an hour. " * 6 + "Bake it, as in part two."
    story = _answered(said).final(said[:199])
    assert _rules(story) == ["cut"]
    assert f"only the first 199 characters of an answer of {len(said)}" in _first(story)


def test_parts_of_an_answer_in_another_order_are_told_as_such() -> None:
    half = LONG.index(" ", len(LONG) // 2)
    parts = LONG[half:], LONG[:half]
    story = _answered(LONG).final(parts[0], kind="partial").final(parts[1])
    (found,) = reply_carried(story.end())
    assert "another order" in found.message
    whole = _answered(LONG).final(parts[1], kind="partial").final(parts[0])
    assert _rules(whole) == []
