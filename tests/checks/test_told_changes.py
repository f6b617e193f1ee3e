"""What findings say of a message or a row that another text stands for."""

from __future__ import annotations

import pytest

from harness.checks.append_only import append_only_prefix
from harness.checks.evidence.carried_words import changed_to
from harness.checks.message_delivery import inbound_exactly_once
from harness.checks.prompt_size import compaction_preserves
from harness.checks.reply_content import reply_carried
from harness.checks.stored_session import reload_equivalence
from harness.core.values.messages import Text, assistant, user
from tests.checks.chronicle import ALL_SEAMS
from tests.checks.histories import Story, use

NO_STORE = tuple(seam for seam in ALL_SEAMS if seam != "store")
LONG = " and ".join(map(str, range(48)))


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (LONG[:100], "is cut, and its last 221 of 321 characters are gone"),
        (LONG[-100:], "is cut, and its first 221 of 321 characters are gone"),
        (f"Mia: {LONG[:100]}", "is cut, and its last 221 of 321 characters are gone"),
        (LONG.replace(" and 30", ""), 'was "d 29 and 30 and 31'),
    ],
)
def test_a_finding_says_what_became_of_a_long_message(sent: str, words: str) -> None:
    story = Story(seams=NO_STORE).turn(LONG).reply("1", messages=[user(sent)])
    (finding,) = inbound_exactly_once(story.final().end())
    assert words in finding.message


def _two_turns() -> Story:
    story = Story().turn("one").reply(use("list")).tool().reply("first").final()
    return story.turn("two").reply("second").final()


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ("answered", "compaction: "),
        ("cancelled", "compaction, after the cancel of turn 3 of main: "),
        ("failed", "compaction, after turn 3 of main failed: "),
        ("killed", "compaction, after a kill in turn 3 of main: "),
    ],
)
def test_rows_that_vanish_are_told_with_what_ended_the_turn(ending: str, words: str) -> None:
    story = _two_turns().turn("three").reply(use("list")).row(assistant(use("list")))
    match ending:
        case "cancelled":
            story.cancel().final("Stopped.", "cancelled")
        case "failed":
            story.fail(400).final("Sorry.", "failed")
        case "killed":
            story.killed()
        case _:
            story.tool("seven").reply("x").final()
    (found,) = (f for f in reload_equivalence(story.gone("r5").end()) if f.code.endswith(".gone"))
    assert found.message == f"stored rows are gone without a {words}" + '"two"'


def test_a_row_that_says_something_else_is_told_with_its_change() -> None:
    (finding,) = reload_equivalence(_two_turns().change("r1", user("one\n\ntwo")).end())
    assert finding.message == 'stored row r1, user, was "one", and is "one two"'


ANSWER = "The number is 5551234567 from next Monday on."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The number is ***", "only the first 13 characters of an answer of 45, and '***' instead"),
        ("*** from next Monday on.", "characters of an answer of 45, and '***' instead"),
        ("The number is *** from next Monday on.", "from '5551234567 from ne"),
        ("The number is *** from next Monday on.", "on, and '***' instead"),
    ],
)
def test_what_stands_in_place_of_a_part_of_an_answer_is_told(text: str, words: str) -> None:
    story = Story().turn("go").row(user("go")).reply(ANSWER).row(assistant(text)).final(text)
    (finding,) = reply_carried(story.end())
    assert words in finding.message


@pytest.mark.parametrize(
    ("was", "now", "words"),
    [
        ("Be kind.", "", "main/model#2 has none"),
        ("", "Be kind.", 'it was "", and is "Be kind."'),
        ("It is noon. Be kind to all.", "It is one. Be kind to all.", 'it was "It is noon. Be'),
    ],
)
def test_a_system_text_that_changes_is_told_with_its_change(was: str, now: str, words: str) -> None:
    story = Story().turn("go")
    story.reply(use("list"), request={"system": story.history.value(was)}).tool("x")
    story.reply("y", request={"system": story.history.value(now)})
    (finding,) = append_only_prefix(story.final().end())
    assert words in finding.message


def test_a_system_text_that_is_gone_after_a_compaction_is_told_as_a_whole() -> None:
    story = Story().turn("one")
    story.reply("1", request={"system": story.history.value("Never delete a file.")})
    story.reply("sum", purpose="compact", messages=[user("sum")])
    found = compaction_preserves(story.reply("2", messages=[user("one")]).final().end())
    words = "the system text is gone after the compaction"
    assert [f.message for f in found] == [f"main/model#3: {words}"]


def test_another_unicode_form_of_the_letters_is_told() -> None:
    told = changed_to("Is a cafe\u0301 open?", "Is a caf\xe9 open?")
    assert told.startswith("is in another Unicode form: it was 'Is a cafe\\u0301")


def test_a_message_that_is_lost_after_a_turn_that_failed_is_told_with_it() -> None:
    story = Story(seams=NO_STORE).turn("one").reply("1").final("Sorry.", "failed").turn("two")
    (finding,) = (
        f
        for f in inbound_exactly_once(story.reply("2", messages=[user("other")]).final().end())
        if f.code == "inbound_exactly_once.lost"
    )
    words = "the message m2 is not in the first request of its turn, after turn 1 of main failed"
    assert finding.message == f"main/model#2: {words}"


def test_equal_words_behind_others_are_told_as_that() -> None:
    told = changed_to("transfer 15 to Ada", "Agent  transfer 15 to Ada")
    assert told == 'stands behind other words now: "Agent"'
    assert changed_to("transfer 15 to Ada", "Agent transfer 16 to Ada").startswith("was ")


@pytest.mark.parametrize(
    ("kept", "words"), [((0,), "it has 1 of its 2 blocks"), ((1, 0), "it has its blocks otherwise")]
)
def test_a_message_whose_blocks_stand_elsewhere_is_not_told_as_cut(
    kept: tuple[int, ...], words: str
) -> None:
    story = Story(seams=NO_STORE).turn("one").reply(Text("Well."), use("list", id="a")).tool()
    story.reply("1").final().turn("two")
    sent = list(story.live)
    sent[1] = assistant(*[sent[1].blocks[n] for n in kept])
    (finding, *_) = append_only_prefix(story.reply("2", messages=sent).final().end())
    assert finding.message.endswith(f"message 1 (assistant) differs: {words}")
