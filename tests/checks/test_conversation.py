"""What was said and done stands in the requests that follow."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.conversation import history_faithful
from harness.core.history.events import Effected
from harness.core.values.messages import (
    Message,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.core.values.plans import Close, Sent
from tests.checks.failing_worlds import FailingWorld
from tests.checks.histories import Story, codes, use


def test_a_history_that_grows_is_faithful() -> None:
    story = Story().turn("one").reply("1").final()
    story.turn("two").reply(use("list")).tool("a, b").reply("2").final()
    assert codes(history_faithful(story.end())) == []


def test_a_turn_that_begins_with_nothing_forgets_the_last_reply() -> None:
    story = Story().turn("one").reply("the answer is 1").final()
    told = story.called
    story.turn("two").reply("2", messages=[user("two")])
    (finding,) = history_faithful(story.final().end())
    assert finding.code == "history_faithful.forgotten_reply"
    assert finding.events[0] == told


def test_a_loss_is_told_with_the_move_to_another_provider() -> None:
    story = Story().turn("one").reply("the answer is 1").final()
    story.provider = "openai-chat"
    story.turn("two").reply("2", messages=[user("two")])
    first = next(iter(history_faithful(story.final().end())))
    assert first.message.endswith("missing: it goes to another provider than main/model#1")


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("Error: interrupted, the outcome is unknown.", ["history_faithful.kept_result"]),
        ("It failed. Behind it stood: page one is of whales.", []),
        ("page one is of whales, and of ice", []),
        ("(older results are left out)", []),
    ],
)
def test_a_stored_result_is_not_told_as_a_failure(told: str, found: list[str]) -> None:
    call = assistant(use("fetch", id="t1"))
    story = Story().row(call).row(user("Be quick."))
    story.row(results(ToolResult("t1", "page one is of whales"))).turn("Well?")
    sent = [call, results(ToolResult("t1", told)), user("Be quick."), user("Well?")]
    assert codes(history_faithful(story.reply("Yes.", messages=sent).final().end())) == found


def test_of_two_stored_results_of_one_call_either_is_kept() -> None:
    call, failed = assistant(use("fetch", id="t1")), ToolResult("t1", "timed out", is_error=True)
    story = Story().row(call).row(results(failed)).row(results(ToolResult("t1", "of whales")))
    sent = [call, results(failed), user("Well?")]
    story = story.turn("Well?").reply("Yes.", messages=sent).final()
    assert codes(history_faithful(story.end())) == []


def test_a_result_behind_a_later_answer_came_too_late() -> None:
    call = assistant(use("fetch", id="t1"))
    story = Story().row(call).row(user("Be quick.")).row(assistant("I am."))
    story.row(results(ToolResult("t1", "page one is of whales"))).turn("Well?")
    told = results(ToolResult("t1", "The outcome is unknown: it was interrupted."))
    sent = [call, told, user("Be quick."), assistant("I am."), user("Well?")]
    assert codes(history_faithful(story.reply("Yes.", messages=sent).final().end())) == []


def test_a_reply_that_is_wrapped_is_no_loss() -> None:
    story = Story().turn("one").reply("1").final("The answer: 1")
    story.turn("two").reply("2", messages=[user("one"), assistant("1"), user("two")])
    assert codes(history_faithful(story.final().end())) == []


@pytest.mark.parametrize(
    ("past", "found"),
    [
        ([user("next"), assistant("step 1"), user("next"), assistant("step 2")], False),
        ([user("Ada: next"), assistant("step 1"), user("Ada: next"), assistant("step 2")], False),
        ([user("next and next"), assistant("step 1"), assistant("step 2")], False),
        ([user("next"), assistant("step 1"), assistant("step 2")], True),
        ([user("They asked twice."), assistant("step 1"), assistant("step 2")], True),
    ],
)
def test_a_message_that_comes_again_in_equal_words_stays(past: list[Message], found: bool) -> None:
    story = Story().turn("next").reply("step 1").final()
    story.turn("next").reply("step 2").final()
    story.turn("thanks").reply("welcome", messages=[*past, user("thanks")])
    expected = ["history_faithful.forgotten_message"] if found else []
    assert codes(history_faithful(story.final().end())) == expected


def test_what_failed_need_not_be_kept() -> None:
    story = Story().turn("one").reply("no").final(status="failed")
    story.turn("two").reply("2", messages=[user("two")])
    assert codes(history_faithful(story.final().end())) == []


def test_a_result_that_is_never_sent_back_is_forgotten() -> None:
    story = Story().turn("one").reply(use("list")).tool("a, b")
    story.reply("done", messages=[user("one")])
    assert codes(history_faithful(story.final().end())) == ["history_faithful.forgotten_result"]


def test_a_compaction_may_take_things_away() -> None:
    story = Story().turn("one").reply("1").final()
    story.turn("two").reply("summary", purpose="compact", messages=[user("Summarise: one, 1")])
    story.reply("2", messages=[user("Summary. two")])
    assert codes(history_faithful(story.final().end())) == []


def test_what_is_missing_since_a_summary_of_its_turn_is_told_with_it() -> None:
    story = Story().turn("one").reply("short", purpose="compact").reply("1").final()
    story.turn("two").reply("2", messages=[user("two")])
    (finding,) = history_faithful(story.final().end())
    assert finding.message.endswith("is missing, after a summary of main in turn 1 of main")


def test_a_request_over_the_window_may_be_cut_down() -> None:
    story = Story().turn("one").reply("1").final()
    story.turn("two").fail(400, "V23", refused=("V23",)).reply("2", messages=[user("two")])
    assert codes(history_faithful(story.final().end())) == []


def _two_results(*said: str) -> list[str]:
    story = Story().turn("one").reply(use("list", {"path": "a"}), use("list", {"path": "b"}))
    story.tool("born in London").tool("born in Berlin")
    calls = story.live[-1]
    given = [ToolResult(c.id, text) for c, text in zip(calls.tool_uses, said, strict=True)]
    story.reply("done", messages=[user("one"), calls, results(*given)])
    return codes(history_faithful(story.final().end()))


def test_a_result_that_is_another_calls_is_swapped() -> None:
    swapped = _two_results("born in Berlin", "born in London")
    assert swapped == ["history_faithful.swapped_result"] * 2
    assert _two_results("born in London", "born in London") == ["history_faithful.swapped_result"]


def test_a_result_may_be_spelt_otherwise_although_another_one_is_its_beginning() -> None:
    story = Story().turn("one").reply(use("list", {"path": "a"}), use("list", {"path": "b"}))
    story.tool("born in Berlin").tool("born in Berlin, caf\\udce9 and Rome")
    calls = story.live[-1]
    said = zip(calls.tool_uses, ("born in Berlin", "born in Berlin, caf? and Rome"), strict=True)
    given = [ToolResult(call.id, text) for call, text in said]
    story.reply("done", messages=[user("one"), calls, results(*given)])
    assert codes(history_faithful(story.final().end())) == []


def test_a_result_may_be_annotated_and_reworded() -> None:
    assert _two_results("born in London [seen before]", "born in Berlin") == []
    assert _two_results("(left out)", "born in Berlin") == []


def _after_a_break(*again: Message, **broken: Any) -> list[str]:
    story = Story().turn("one").reply(use("list")).tool("a, b")
    reset = {"faults": ("transport.reset_mid_stream",), "steps": (Sent(3, 650), Close(True))}
    story.reply("half", **{"complete": False, "outcome": "error", **reset, **broken})
    story.reply("done", messages=list(again) or [user("one"), *story.live[1:3]])
    return codes(history_faithful(story.final().end()))


def test_a_retry_that_begins_the_turn_anew_forgets_results() -> None:
    assert _after_a_break(user("one")) == ["history_faithful.forgotten_result"]


def test_a_retry_that_goes_on_forgets_nothing() -> None:
    assert _after_a_break() == []
    renamed = (assistant(ToolUse("new", "list", {})), results(ToolResult("new", "a, b")))
    assert _after_a_break(user("one"), *renamed) == []


def test_an_error_event_may_refuse_the_size_so_less_may_be_sent() -> None:
    assert _after_a_break(user("one"), faults=("sse.error_event",), steps=(Sent(3, 650),)) == []


PAY = ToolUse("t1", "write", {"path": "17"})
STUB = ToolResult("t1", "Its outcome is unknown.", is_error=True)


def _killed_after_paying(key: str = "") -> FailingWorld:
    world = FailingWorld()
    world.turn("Pay.").reply(PAY).tool("paid")
    return world.effect(key).restart()


def _resumed(world: FailingWorld, *sent: Message, text: str = "Paid.") -> list[str]:
    """The codes when the resumed turn sends these messages."""
    world.reply(text, messages=list(sent)).final()
    return codes(history_faithful(world.end()))


def test_a_turn_that_begins_anew_after_a_kill_forgets_what_it_has_done() -> None:
    world = _killed_after_paying()
    (effect,) = (e.n for e in world.history.events if isinstance(e, Effected))
    world.reply("Paid.", messages=[user("Pay.")]).final()
    (finding,) = history_faithful(world.end())
    assert finding.code == "history_faithful.forgotten_effect"
    assert finding.events == (effect, world.history.trace.exchanges[1].n)
    kept = (
        FailingWorld().turn("Pay.").reply(PAY).row(assistant(PAY)).tool("paid").effect().restart()
    )
    kept.reply("Paid.", messages=[user("Pay.")]).final()
    (finding_of_kept,) = history_faithful(kept.end())
    assert "no row of the store held the call" in finding.message
    assert "no row" not in finding_of_kept.message


def test_an_effect_is_told_by_its_call_or_by_any_words() -> None:
    assert _resumed(_killed_after_paying(), user("Pay."), assistant(PAY), results(STUB)) == []
    note = user("I was interrupted. The call of write may have been carried out.")
    assert _resumed(_killed_after_paying(), user("Pay."), note) == []
    assert _resumed(_killed_after_paying(), user("Pay. (This was begun before.)")) == []


def test_a_call_that_was_made_before_tells_nothing_of_the_second() -> None:
    world = FailingWorld()
    world.turn("Pay.").reply(PAY).tool("paid").reply(ToolUse("t2", "write", {"path": "17"}))
    world.tool("paid")
    once = (user("Pay."), assistant(PAY), results(ToolResult("t1", "paid")))
    assert _resumed(world.effect().restart(), *once) == ["history_faithful.forgotten_effect"]


def test_the_next_message_does_not_tell_of_an_effect() -> None:
    world = _killed_after_paying().take("Did you pay?", "m2")
    assert _resumed(world, user("Pay."), user("Did you pay?")) == [
        "history_faithful.forgotten_effect"
    ]
    world = _killed_after_paying().take("Did you pay?", "m2")
    assert _resumed(world, user("Pay.\n\nDid you pay?")) == ["history_faithful.forgotten_effect"]


def test_an_effect_that_cannot_happen_twice_may_be_forgotten() -> None:
    assert _resumed(_killed_after_paying("order-17"), user("Pay.")) == []


@pytest.mark.parametrize("again", ["key-1", "key-2"])
def test_an_effect_that_happens_again_under_another_key_may_not_be_forgotten(again: str) -> None:
    world = _killed_after_paying("key-1").reply(PAY, messages=[user("Pay.")]).tool("paid")
    found = codes(history_faithful(world.effect(again).final().end()))
    assert found == ([] if again == "key-1" else ["history_faithful.forgotten_effect"])


def test_a_call_without_an_effect_may_be_made_again() -> None:
    world = FailingWorld()
    world.turn("Look.").reply(PAY).tool("17 files")
    assert _resumed(world.restart(), user("Look.")) == []


def test_a_turn_that_the_user_knows_to_have_failed_may_be_left_out() -> None:
    world = _killed_after_paying().final("I was interrupted.", "failed", "error")
    assert _resumed(world.turn("Hello?"), user("Hello?")) == []


def test_a_reply_in_another_format_is_kept_as_the_model_wrote_it() -> None:
    story = Story().turn("one").reply("**Seven** apples.").say("Seven apples.").turn("two")
    assert codes(history_faithful(story.reply("2").final().end())) == []
    story = Story().turn("one").reply("**Seven** apples.").say("Seven apples.").turn("two")
    story.reply("2", messages=[user("one"), user("two")])
    found = codes(history_faithful(story.final().end()))
    assert found == ["history_faithful.forgotten_reply"]


def test_a_second_run_of_one_call_gives_no_result_of_another() -> None:
    call = use("list", id="t1")
    story = FailingWorld()
    story.turn("go").reply(call).tool("no answer came", error=True)
    story.again(call).tool("a, b, c and d")
    sent = results(ToolResult("t1", "a, b, c and d"))
    story.reply("done", messages=[user("go"), assistant(call), sent])
    assert codes(history_faithful(story.final().end())) == []


def test_a_call_that_the_model_made_twice_under_one_id_has_one_result() -> None:
    """An agent that keeps it once may give it another id, where the id was there before."""

    def found(*kept: str) -> list[str]:
        twice = (use("list", id="same"), use("list", id="same"))
        story = Story().turn("go").reply(*twice).tool("a, b")
        calls, answers = (
            [use("list", id=id) for id in kept],
            [ToolResult(id, "a, b") for id in kept],
        )
        said = [user("go"), assistant(*calls), results(*answers)]
        story.reply("Done.", messages=said if kept else [user("go")]).final()
        return codes(history_faithful(story.end()))

    assert found("same") == found("own_1") == found("own_1", "own_2") == []
    assert found() == ["history_faithful.forgotten_result"]


def test_a_cancel_takes_away_nothing_that_was_said_before_its_turn() -> None:
    def found(*kept: Message) -> list[str]:
        story = Story().turn("one").reply("the answer is 1").final().turn("two")
        story.reply(
            "a long text", messages=[user("one"), assistant("the answer is 1"), user("two")]
        )
        story.cancel().final("Stopped.", status="cancelled").turn("three")
        return codes(history_faithful(story.reply("3", messages=[*kept, user("three")]).end()))

    assert found(user("one"), assistant("the answer is 1")) == []
    assert found(user("two")) == ["history_faithful.forgotten_reply"]


def test_a_failure_takes_away_nothing_that_was_said_before_its_turn() -> None:
    """An agent may begin again after it, but what it keeps is whole."""

    def found(*kept: Message) -> list[str]:
        story = Story().turn("What is it?").reply("the answer is 1").final().turn("Which one?")
        said = [user("What is it?"), assistant("the answer is 1"), user("Which one?")]
        story.fail(403, messages=said).final("I was refused.", "failed", "error").turn("And now?")
        return codes(history_faithful(story.reply("3", messages=[*kept, user("And now?")]).end()))

    told = assistant("I was refused.")
    assert found(user("What is it?"), assistant("the answer is 1"), told) == []
    assert found(user("What is it?"), told) == ["history_faithful.forgotten_reply"]


@pytest.mark.parametrize(
    ("kept", "notice", "expected"),
    [
        ((), "", ["history_faithful.forgotten_past"]),
        ((), "I have to begin anew.", []),
        ((user("the first question"),), "", []),
    ],
)
def test_a_refused_request_is_no_reason_to_throw_the_conversation_away(
    kept: tuple[Message, ...], notice: str, expected: list[str]
) -> None:
    story = Story().turn("the first question").reply("the first answer").final().turn("two").fail()
    story = story.say(notice, kind="notice") if notice else story
    story.reply("done", messages=[*kept, user("two")]).final()
    assert codes(history_faithful(story.end())) == expected


def test_a_request_that_failed_in_passing_costs_no_result() -> None:
    def found(*again: Message, status: int = 503) -> list[str]:
        story = Story().turn("one").reply(use("list")).tool("a, b").fail(status)
        kept = [user("one"), *story.live[1:3]]
        story.reply("done", messages=list(again) or kept)
        return codes(history_faithful(story.final().end()))

    assert found(user("one")) == found(user("one"), user("Again.")) != []
    assert found(user("one"), status=429) == ["history_faithful.forgotten_result"]
    assert found() == found(user("one"), status=413) == []


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ((), ["history_faithful.forgotten_past"]),
        ((assistant("The second answer is short."),), []),
        ((user("Summary: a long question was asked, and two answers were given."),), []),
    ],
)
def test_what_was_too_large_keeps_the_last_of_its_past_if_half_has_room(
    kept: tuple[Message, ...], expected: list[str]
) -> None:
    story = Story().turn("The first question is " + "long " * 40).reply("One.").final()
    story.turn("Two?").reply("The second answer is short.").final()
    story.turn("three").fail(400, "V23", refused=("V23",))
    story.reply("done", messages=[*kept, user("three")]).final()
    assert codes(history_faithful(story.end())) == expected


def test_a_past_that_had_no_room_may_go() -> None:
    story = Story().turn("The first question?").reply("The first answer.").final()
    story.turn("three").fail(400, "V23", refused=("V23",))
    story.reply("done", messages=[user("three")]).final()
    assert codes(history_faithful(story.end())) == []


@pytest.mark.parametrize(
    ("told", "found"), [("b", []), ("", ["history_faithful.forgotten_result"])]
)
def test_a_call_that_has_another_id_in_a_list_begun_anew_has_its_result(
    told: str, found: list[str]
) -> None:
    """An agent that let the provider keep the conversation sends all of its own copy."""
    ids, story = ("same", "own1", "own2"), Story().turn("go")
    story.reply(use("list", {"n": 0}, "same")).tool("a")
    story.reply(*[use("list", {"n": n}, "same") for n in (1, 2)]).tool("b").tool("b")
    rows = [user("go, please")]
    for n, id_ in enumerate(ids):
        text = told if n else "a"
        rows += [assistant(use("list", {"n": n}, id_)), results(ToolResult(id_, text))]
    story.reply("done", messages=rows)
    assert [c for c in codes(history_faithful(story.final().end())) if "forgotten_r" in c] == found
