"""nonblank_content, wellformed_text and ends_with_user: what one provider lets pass."""

from __future__ import annotations

from typing import Any

from harness.checks.form import ends_with_user, nonblank_content, wellformed_text
from harness.core.history.history import History, decode, encode
from harness.core.values.messages import Message, ToolResult, assistant, results, user
from tests.checks.histories import Story, codes, use

HALF = "half \ud83d"


def asked(*messages: Message, **called: Any) -> History:
    """A request of these messages."""
    return Story().turn("go").reply("x", messages=list(messages), **called).end()


def test_a_message_says_something() -> None:
    assert codes(nonblank_content(asked(user("go"), Message("assistant"), user("?")))) == [
        "nonblank_content.empty"
    ]
    assert codes(nonblank_content(asked(user(" \n")))) == ["nonblank_content.blank"]
    beside = assistant("\n\n", use("list", id="a"))
    found = nonblank_content(asked(user("go"), beside, results(ToolResult("a", "ok"))))
    assert codes(found) == ["nonblank_content.blank"]


def test_an_empty_prefill_at_the_end_is_allowed() -> None:
    assert codes(nonblank_content(asked(user("go"), Message("assistant")))) == []


def test_a_result_without_text_is_allowed_unless_the_setting_says_otherwise() -> None:
    history = asked(user("go"), assistant(use("list", id="a")), results(ToolResult("a", " ")))
    assert codes(nonblank_content(history)) == []
    assert codes(nonblank_content(history, results=True)) == ["nonblank_content.blank"]


def test_a_blank_is_found_once_though_every_request_has_it() -> None:
    story = Story().turn("go").reply(" ", "ok").final("ok").turn("on").reply("y").turn("!")
    assert codes(nonblank_content(story.reply("z").end())) == ["nonblank_content.blank"]


def test_a_log_keeps_what_was_said_and_not_what_was_sent() -> None:
    history = History()
    history.started(run="log", scenario="log", world="recording", inferred=True, seams=("model",))
    history.events += asked(user(" ")).events[1:]
    assert codes(nonblank_content(history)) == []


def test_half_a_character_is_found_in_a_request_and_in_a_row() -> None:
    history = Story().turn(HALF).reply("x").final().end()
    assert codes(wellformed_text(history)) == ["wellformed_text.request", "wellformed_text.row"]


def test_half_a_character_is_found_in_a_file_as_in_the_run() -> None:
    history = Story().turn("go").reply(HALF).final("x").turn("on").reply("y").final().end()
    read = decode(encode(history.events))
    assert list(wellformed_text(read)) == list(wellformed_text(history))
    assert codes(wellformed_text(read)) != []


def test_an_escape_that_is_spelt_out_and_a_whole_emoji_are_text() -> None:
    story = Story().turn("what is \\ud83d?").reply("half \\ud83d \U0001f600").final()
    assert codes(wellformed_text(decode(encode(story.end().events)))) == []
    both = Story().turn("half \\ud83d").reply(HALF).final("ok").end()
    assert codes(wellformed_text(both)) == ["wellformed_text.row"]


def test_a_reply_that_is_half_a_character_and_goes_nowhere_is_the_models_own() -> None:
    history = Story(stores=False).turn("go").reply(HALF).final("x").end()
    assert codes(wellformed_text(history)) == []


def test_the_assistant_never_has_the_last_word() -> None:
    history = asked(user("go"), assistant("Ada is"))
    assert codes(ends_with_user(history)) == ["ends_with_user.assistant"]
    behind = asked(user("go"), assistant("Ada is"), Message("system"))
    assert codes(ends_with_user(behind)) == ["ends_with_user.assistant"]


def test_a_paused_answer_is_sent_back_and_again_after_a_failure() -> None:
    story = Story().turn("go").reply("Let me", stop="pause_turn")
    assert codes(ends_with_user(story.fail(529).reply("see.").final().end())) == []


def test_a_request_that_was_right_may_be_made_again_after_an_answer_that_is_none() -> None:
    story = Story().turn("go").reply("Let me", stop="pause_turn").reply("x", stop=None)
    sent = [user("go"), assistant("Let me")]
    assert codes(ends_with_user(story.reply("see.", messages=sent).final().end())) == []


def test_a_pause_excuses_its_own_session_and_no_later_request() -> None:
    story = Story().turn("go").reply("Let me", stop="pause_turn").reply("see.")
    assert codes(ends_with_user(story.reply("again").end())) == ["ends_with_user.assistant"]


def test_a_recording_may_have_a_prefill() -> None:
    story = Story(world="recording").turn("go").reply("x", messages=[user("go"), assistant("{")])
    assert codes(ends_with_user(story.end())) == []
