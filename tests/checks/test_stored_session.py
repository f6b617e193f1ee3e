"""Stored rows: as lived, each once, and in time.

What a start reads back: the session that is stored.
"""

from __future__ import annotations

import pytest

from harness.checks.durability import durable_first
from harness.checks.judge import judge
from harness.checks.stored_session import reload_equivalence
from harness.core.history.events import StoredRow
from harness.core.history.history import History
from harness.core.values.calls import StoreRequest
from harness.core.values.messages import (
    Message,
    Text,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from tests.checks.histories import Story, codes, use


def _two_turns() -> Story:
    story = Story().turn("one").reply(use("list")).tool().reply("first").final()
    return story.turn("two").reply("second").final()


def test_what_an_honest_agent_stores_is_what_it_lived() -> None:
    history = _two_turns().end()
    assert not list(reload_equivalence(history))
    assert not list(durable_first(history))


def test_the_same_words_in_two_turns_are_no_duplicate() -> None:
    story = Story().turn("yes").reply("ok").final().turn("yes").reply("ok").final()
    assert not list(reload_equivalence(story.end()))


def test_a_reply_that_was_delivered_and_not_stored_is_lost() -> None:
    story = Story(stores=False).turn("one").row(user("one"), labels=["m1"]).reply("x").final()
    sent = story.called
    (finding,) = reload_equivalence(story.end())
    assert finding.code == "reload_equivalence.lost_reply"
    assert finding.events == (sent, story.last)


def test_an_inbound_message_that_is_not_stored_is_lost_although_roles_alternate() -> None:
    story = Story(stores=False).turn("one").row(user("other")).reply("x").row(assistant("x"))
    assert codes(reload_equivalence(story.final().end())) == ["reload_equivalence.lost_inbound"]


def test_rows_of_the_assistant_and_of_tools_may_name_the_message_that_they_belong_to() -> None:
    story = Story(stores=False).turn("one").row(user("one"), labels=["m1"]).reply(use("list"))
    story.row(assistant(use("list", id="t1")), labels=["m1"]).tool()
    story.row(results(ToolResult("t1", "ok")), labels=["m1"]).reply("x")
    history = story.row(assistant("x"), labels=["m1"]).final().end()
    assert judge(history).findings == ()


def test_a_message_that_is_stored_twice_under_its_name_is_still_found() -> None:
    story = Story(stores=False).turn("one").row(user("one"), labels=["m1"]).reply("x")
    history = story.row(user("one"), assistant("x"), labels=["m1", "m1"]).final().end()
    found = {finding.code for finding in judge(history).findings}
    assert {"inbound_exactly_once.twice", "reload_equivalence.duplicate"} <= found


def test_an_inbound_message_without_a_label_is_known_by_its_text() -> None:
    story = Story(stores=False).turn("one two").row(user("[12:00]\none  two")).reply("x")
    assert not list(reload_equivalence(story.row(assistant("x")).final().end()))


def test_a_note_of_the_agent_may_be_stored_in_each_turn() -> None:
    story, note = Story(stores=False), user("I stopped after 18 rounds. Use no tools.")
    for text in ("one", "two"):
        story.turn(text).row(user(text), note).reply(f"so far {text}")
        story.row(assistant(f"so far {text}")).final()
    assert not list(reload_equivalence(story.end()))


def test_a_placeholder_in_the_place_of_a_blank_message_is_not_blank() -> None:
    story = Story(stores=False).turn("").row(user("(an empty message)"), labels=["m1"])
    story.reply("Yes?").row(assistant("Yes?"))
    assert not list(reload_equivalence(story.final().end()))


@pytest.mark.parametrize(("moves", "found"), [(True, []), (False, ["reload_equivalence.gone"])])
def test_rows_behind_a_damaged_line_that_is_taken_out_get_other_places(
    moves: bool, found: list[str]
) -> None:
    story = Story(stores=False).turn("one").row(user("one")).reply("x").row(assistant("x")).final()
    story.turn("two")
    name = story.history.note(assistant("x" if moves else "z"), story.at_ms)
    moved = (StoredRow("r0", name),)  # the line before is taken out: `r2` is now `r0`
    story.history.stored(**story._where(), store="jsonl", added=moved, gone=("r2",))
    story.row(user("two")).reply("y").row(assistant("y")).final()
    assert codes(reload_equivalence(story.end())) == found


def test_a_reply_before_its_question_is_out_of_order() -> None:
    story = Story(stores=False).turn("one").reply("x").row(assistant("x"), user("one"))
    assert codes(reload_equivalence(story.final().end())) == ["reload_equivalence.order"]


def test_a_message_stored_again_is_a_duplicate() -> None:
    story = Story(stores=False).turn("one").row(user("one"), user("one"), labels=["m1", "m1"])
    event = story.last
    story.reply("x").row(assistant("x")).final()
    (finding,) = reload_equivalence(story.end())
    assert (finding.code, finding.events) == ("reload_equivalence.duplicate", (event,))


def test_a_history_that_is_written_again_is_found_row_by_row() -> None:
    story = _two_turns().turn("three")
    story.row(user("one"), assistant("first")).reply("x").final()
    assert codes(reload_equivalence(story.end())) == ["reload_equivalence.duplicate"] * 2


def test_tool_rows_stored_again_are_duplicates() -> None:
    story = Story().turn("one").reply(use("list", id="t")).tool().reply("x").final()
    story.row(assistant(use("list", id="t")))
    assert codes(reload_equivalence(story.end())) == ["reload_equivalence.duplicate"]


def test_an_agents_own_ids_that_count_anew_after_a_compaction_make_no_duplicate() -> None:
    kept = Message("assistant", (ToolUse("own_1", "list", {}), ToolUse("own_2", "list", {})))
    story = Story(stores=False).turn("one").row(user("one"))
    story.reply(use("list"), use("list")).row(kept).tool().tool().reply("x").final()
    story.turn("two").row(user("two")).fail(400)
    story.reply("s", purpose="compact", messages=[user("Sum it up.")])
    story.reply(use("list"), use("list"), messages=[user("s"), user("two")]).row(kept)
    assert "reload_equivalence.duplicate" not in codes(reload_equivalence(story.history))
    story.row(kept)
    assert "reload_equivalence.duplicate" in codes(reload_equivalence(story.history))


def test_an_id_that_the_model_gives_again_makes_no_duplicate() -> None:
    story = Story().turn("one")
    for _ in range(2):
        story.reply(use("list", id="same")).tool()
    story.reply("x").final().turn("two").reply(use("list", id="same")).tool().reply("y").final()
    assert not list(reload_equivalence(story.end()))


def test_a_session_that_begins_with_repeated_rows_is_taken_as_it_is() -> None:
    call = assistant(use("list", id="same"))
    story = Story().row(call, results(ToolResult("same", "a")), call).turn("one").reply("x").final()
    assert not list(reload_equivalence(story.end()))
    again = Story().row(call).turn("one").row(call).reply("x").final()
    assert codes(reload_equivalence(again.end())) == ["reload_equivalence.duplicate"]


@pytest.mark.parametrize(("laid", "found"), [(2, []), (1, ["reload_equivalence.duplicate"])])
def test_a_call_that_damage_puts_in_again_has_a_second_result(laid: int, found: list[str]) -> None:
    half, told = assistant(use("list", id="half")), results(ToolResult("half", "interrupted"))
    story = Story(stores=False).turn("one").row(user("one"))
    for opened in range(2):
        at = {**story._where(), "key": f"main/store#{opened}", "seam": "store"}
        story.history.called(**at, request=StoreRequest("open", access="open"))
        story.history.answered(**at, faults=("persistence.half_stream",) * (opened < laid))
        story = (story.row(half) if opened < laid else story).say("I go on.", "notice").row(told)
    assert codes(reload_equivalence(story.reply("x").row(assistant("x")).final().end())) == found


def test_rows_that_vanish_are_reported() -> None:
    story = _two_turns().gone("r1", "r2")
    event = story.last
    (finding,) = reload_equivalence(story.end())
    assert (finding.code, finding.events) == ("reload_equivalence.gone", (event,))


def test_rows_that_a_compaction_replaces_may_vanish() -> None:
    story = _two_turns().turn("three").reply("sum", purpose="compact").gone("r1", "r2")
    assert not list(reload_equivalence(story.reply("x").final().end()))


def test_rows_may_vanish_just_before_the_notice_of_a_compaction() -> None:
    story = _two_turns().turn("three").gone("r1").say("compacted", "compaction")
    assert not list(reload_equivalence(story.reply("x").final().end()))


def test_a_compaction_may_give_the_place_of_a_row_to_another() -> None:
    story = Story(stores=False).turn("one").row(user("one"), labels=["m1"])
    story.say("compacted", "compaction").change("r1", user("Summary: nothing was said."))
    story.row(user("one"), labels=["m1"]).reply("x").row(assistant("x")).final()
    assert not [c for c in codes(reload_equivalence(story.end())) if c.endswith(".duplicate")]


def test_a_question_that_says_something_else_is_changed() -> None:
    story = _two_turns().change("r1", user("one\n\ntwo"))
    event = story.last
    (finding,) = reload_equivalence(story.end())
    assert (finding.code, finding.events) == ("reload_equivalence.changed", (event,))


def test_rows_may_be_shortened_after_a_refusal_for_size() -> None:
    story = _two_turns().turn("three").fail(400, "V23", too_large=True).change("r1", user("o"))
    assert not list(reload_equivalence(story.reply("x").final().end()))


def test_two_sessions_of_a_store_that_names_none_may_number_their_calls_alike() -> None:
    def stored(other: str) -> list[str]:
        story = Story(stores=False).turn("one").reply(use("list"))
        story.row(user("one"), assistant(use("list", id="own_1"))).tool().reply("x").final()
        story.of(other).turn("two").reply(use("list"))
        story.row(user("two"), assistant(use("list", {"a": 1}, id="own_1"))).tool().reply("y")
        found = codes(reload_equivalence(story.final().end()))
        return [code for code in found if code.endswith("duplicate")]

    assert stored("side") == []
    assert stored("main") == ["reload_equivalence.duplicate"]


def test_an_answer_may_grow_while_it_comes() -> None:
    story = Story(stores=False).turn("one").row(user("one")).reply("hello").row(assistant("he"))
    assert not list(reload_equivalence(story.change("r2", assistant("hello")).final().end()))


def test_an_answer_that_loses_a_call_is_changed() -> None:
    story = Story().turn("one").reply(use("list")).tool().reply("x").final()
    story.change("r2", Message("assistant"))
    assert codes(reload_equivalence(story.end())) == ["reload_equivalence.changed"]


def test_the_model_is_asked_after_the_message_is_stored() -> None:
    story = Story(stores=False).turn("one")
    taken = story.last
    story.reply("x")
    asked = story.called
    story.row(user("one"), assistant("x")).final()
    (finding,) = durable_first(story.end())
    assert (finding.code, finding.events) == ("durable_first.inbound", (taken, asked))


def test_a_reply_is_delivered_after_it_is_stored() -> None:
    story = Story(stores=False).turn("one").row(user("one")).reply("x").final()
    sent = story.called
    (finding,) = durable_first(story.row(assistant("x")).end())
    assert (finding.code, finding.events) == ("durable_first.reply", (sent,))


def test_a_row_that_is_not_durable_does_not_count() -> None:
    story = Story(stores=False).turn("one").row(user("one"), durable=False).reply("x")
    assert codes(durable_first(story.row(assistant("x")).final().end())) == [
        "durable_first.inbound"
    ]


def test_a_notice_need_not_be_stored() -> None:
    assert not list(durable_first(Story().turn("one").say("working", "notice").reply("x").end()))


def test_a_message_that_comes_again_without_its_text_was_not_blank_when_it_was_stored() -> None:
    story = Story(stores=False).turn("one").row(user("one"), labels=["m1"]).killed().take("", "m1")
    assert "reload_equivalence.blank" not in codes(reload_equivalence(story.end()))
    blank = Story(stores=False).take("", "m1").row(user(" "), labels=["m1"]).reply("x").final()
    assert "reload_equivalence.blank" in codes(reload_equivalence(blank.end()))


PAST = (user("My name is Ada."), assistant("Hello, Ada."))


def _begun(*stored: Message, live: tuple[Message, ...] | None = None) -> Story:
    """An agent starts on a stored session, and works with what it has of it."""
    story = Story(stores=False).row(*stored)
    story.live += stored if live is None else live
    story.turn("Who am I?").row(user("Who am I?"), labels=["m1"])
    return story.reply("Ada.").row(assistant("Ada.")).final()


def test_an_agent_that_goes_on_where_it_was() -> None:
    assert not list(reload_equivalence(_begun(*PAST).end()))


def test_a_blank_page_is_a_finding() -> None:
    story = _begun(*PAST, live=())
    (finding,) = reload_equivalence(story.end())
    assert finding.code == "reload_equivalence.forgotten"
    assert finding.events[0] == 1


def test_only_what_was_said_last_is_asked_for() -> None:
    long = (*PAST, user("I live in Oslo."), assistant("A fine place."))
    assert not list(reload_equivalence(_begun(*long, live=long[2:]).end()))
    forgot = _begun(*long, live=PAST)
    assert codes(reload_equivalence(forgot.end())) == ["reload_equivalence.forgotten"]


@pytest.mark.parametrize(
    "stored",
    [
        (user("My name is Ada."),),
        (assistant("Hello, Ada."),),
        (user(""), assistant("Hello, Ada.")),
        (results(), assistant("Hello, Ada.")),
        (user("Look."), Message("assistant", (Text("I will."), use("list", id="t1")))),
    ],
    ids=["no reply", "no question", "a blank one", "no words of the user's", "work in progress"],
)
def test_what_no_request_need_hold_may_be_left_out(stored: tuple[Message, ...]) -> None:
    assert not list(reload_equivalence(_begun(*stored, live=()).end()))


@pytest.mark.parametrize(("status", "found"), [("failed", []), ("ok", ["forgotten"])])
def test_a_turn_that_failed_may_be_left_out_after_a_start(status: str, found: list[str]) -> None:
    story = Story(stores=False).turn("one").row(user("one"), labels=["m1"])
    story.reply("It broke.").row(assistant("It broke.")).final(status=status).killed()
    story.history.started(run="again", scenario="again", attempt=1)
    story.live.clear()
    story.turn("two").row(user("two"), labels=["m2"])
    story.reply("2").row(assistant("2")).final()
    said = codes(reload_equivalence(story.end()))
    assert [code.rpartition(".")[2] for code in said] == found


def test_a_reply_that_was_taken_out_of_the_store_is_not_asked_for() -> None:
    story = Story(stores=False).row(*PAST).gone("r1", "r2")
    story.turn("Hi.").row(user("Hi."), labels=["m1"]).reply("Yes?").row(assistant("Yes?")).final()
    assert "reload_equivalence.forgotten" not in codes(reload_equivalence(story.end()))


def test_a_summary_may_stand_in_the_place_of_the_past() -> None:
    story = Story(stores=False).row(*PAST).turn("Who am I?").row(user("Who am I?"), labels=["m1"])
    story.reply("The user is Ada.", purpose="compact").reply("Ada.").row(assistant("Ada.")).final()
    assert "reload_equivalence.forgotten" not in codes(reload_equivalence(story.end()))


def _replies(*rows: str, said: int = 1) -> History:
    story = Story(stores=False).turn("one").row(user("one"), labels=["m1"])
    for _ in range(said):
        story.reply("x")
    return story.row(*map(assistant, rows)).final("x").end()


def test_a_reply_stored_again_is_a_duplicate() -> None:
    (finding,) = reload_equivalence(_replies("x", "x"))
    assert finding.code == "reload_equivalence.duplicate"
    assert "stores the reply of turn 1 of main again" in finding.message


@pytest.mark.parametrize("is_said", [True, False])
def test_a_note_of_the_agent_in_the_voice_of_the_model_may_come_again(is_said: bool) -> None:
    """Claude Code closes each turn that was killed with the words "No response requested."."""
    story = Story(stores=False)
    for text in ("one", "two", "three"):
        story.turn(text).row(user(text), labels=[text]).row(assistant("Nothing to say."))
        said = "Nothing to say." if is_said and text == "one" else text.upper()
        story.reply(said).row(assistant(said)).final(said)
    found = codes(reload_equivalence(story.end()))
    assert ("reload_equivalence.duplicate" in found) is is_said


def test_a_reply_that_was_said_so_often_is_no_duplicate() -> None:
    assert not list(reload_equivalence(_replies("x", "x", said=2)))
    assert not list(reload_equivalence(_replies("x", "y")))


def test_single_results_may_come_again_where_a_provider_repeats_its_ids() -> None:
    """The model asks twice for the same two ids, and each result is its own row."""
    story = Story(stores=False).turn("one").row(user("one"), labels=["m1"])
    both = (use("list", id="a"), use("list", id="b"))
    for _ in range(2):
        story.reply(*both).row(assistant(*both)).tool("x").tool("x")
        story.row(results(ToolResult("a", "x"))).row(results(ToolResult("b", "x")))
    history = story.reply("y").row(assistant("y")).final().end()
    assert "reload_equivalence.duplicate" not in codes(reload_equivalence(history))


def test_a_stored_reply_with_other_words_than_the_user_reads_is_shown() -> None:
    story = Story(stores=False).turn("one").row(user("one"), labels=["m1"]).reply("It is late.")
    story.row(assistant("It is late.")).final("Done!")
    (finding,) = reload_equivalence(story.end())
    assert finding.code == "reload_equivalence.lost_reply"
    assert 'the user reads "Done!", and the stored reply is "It is late."' in finding.message


def test_a_reply_that_has_lost_the_address_of_a_link_says_so() -> None:
    kept, read = "See [the table](https://example.org/yeast?a=1) now.", "See the table now."
    story = Story(stores=False).turn("one").row(user("one"), labels=["m1"]).reply(kept)
    (finding,) = reload_equivalence(story.row(assistant(kept)).final(read).end())
    assert "the address of a link, https://example.org/yeast?a=1, is lost" in finding.message


def test_a_reply_that_is_stored_while_the_next_message_is_read_is_not_lost() -> None:
    def stored(*, keeps: bool) -> list[str]:
        story = Story(stores=False).turn("one").row(user("one"), labels=["m1"]).reply("x")
        story.session = "bob"
        story.take("two")
        story.session = "main"
        if keeps:
            story.row(assistant("x"))
        found = codes(reload_equivalence(story.say("x", "final").end()))
        return [code for code in found if code.endswith("lost_reply")]

    assert stored(keeps=True) == []
    assert stored(keeps=False) == ["reload_equivalence.lost_reply"]
