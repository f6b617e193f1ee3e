"""Answers that break off, and what becomes of them."""

from __future__ import annotations

import pytest

from harness.checks.truthfulness import stream_error_handled, truthful_outcome
from harness.core.values.messages import Message, ToolResult, assistant, results, user
from harness.core.values.plans import Kill, Raise, Sent
from tests.checks.failing_worlds import SENT, FailingWorld
from tests.checks.histories import Story, codes, use
from tests.checks.sessions import Sessions

WHOLE = "The ship leaves at nine in the morning."
PART = "The ship leaves"


def _broken() -> FailingWorld:
    world = FailingWorld()
    world.turn("When does it leave?")
    return world.breaks(WHOLE)


def _asked_again(world: Story) -> list[str]:
    return codes(stream_error_handled(world.reply(WHOLE).final().end()))


def test_asking_again_is_fine() -> None:
    assert _asked_again(_broken()) == []


@pytest.mark.parametrize("kind", ["final", "error", "notice"])
def test_telling_it_is_fine(kind: str) -> None:
    world = _broken().say("The answer broke off.", kind, "failed")
    assert not list(stream_error_handled(world.end()))


def test_a_part_is_not_run() -> None:
    world = FailingWorld()
    world.turn("Go.")
    world.breaks("I will look.", use("list")).tool("x")
    (finding, *_) = stream_error_handled(world.end())
    assert finding.code == "stream_error_handled.executed"
    assert finding.events == (world.history.trace.exchanges[0].n, world.called)


def test_an_answer_whose_end_came_out_of_order_may_be_run() -> None:
    world = FailingWorld()
    came = {"complete": False, "outcome": "error", "steps": SENT, "said_all": True}
    world.turn("Go.").reply("I will look.", use("list"), **came).tool("x")
    assert not list(stream_error_handled(world.end()))
    told = FailingWorld().turn("Go.").reply(WHOLE, **came).final()
    assert not list(truthful_outcome(told.end()))


def test_a_part_is_not_stored_as_an_answer() -> None:
    world = _broken()
    broken = world.called
    world.row(assistant(PART))
    row = world.last
    world.reply(WHOLE)
    (finding,) = stream_error_handled(world.final().end())
    assert (finding.code, finding.events) == ("stream_error_handled.stored", (broken, row))


@pytest.mark.parametrize(
    ("told", "rules"),
    [
        ("Interrupted.", ["stream_error_handled.stored"]),
        ("OK", ["stream_error_handled.stored"]),
        ("Not run: the answer broke off.", []),
        ("Error: the call came in part; its input is incomplete.", []),
        ("Abgebrochen, bevor der Aufruf vollst\u00e4ndig war.", []),
    ],
)
def test_half_a_call_is_not_stored_as_one_that_ran(told: str, rules: list[str]) -> None:
    call = use("list", id="t9")
    world = FailingWorld().turn("Go.").breaks("", call)
    world.row(Message("assistant", (call,)), results(ToolResult("t9", told, is_error=True)))
    assert _asked_again(world) == rules


@pytest.mark.parametrize(("session", "found"), [("main", 1), ("side", 0), ("", 1)])
def test_a_row_of_another_session_keeps_no_part_of_this_answer(session: str, found: int) -> None:
    """Another chat got the same words whole, and the same look at the store shows its row."""
    world = _broken()
    world.row(assistant(PART), session=session)
    assert len(list(stream_error_handled(world.reply(WHOLE).final().end()))) == found


def test_a_part_may_be_stored_with_a_mark() -> None:
    assert _asked_again(_broken().row(assistant(f"{PART} [broken off]"))) == []


def test_a_row_behind_a_part_may_be_its_mark() -> None:
    assert _asked_again(_broken().row(assistant(PART), user("[the answer broke off]"))) == []


def test_an_earlier_answer_may_be_stored_late() -> None:
    world = FailingWorld(stores=False)
    world.turn("Look.").reply(PART, use("list")).tool("x")
    world.breaks(WHOLE).row(assistant(PART))
    assert _asked_again(world) == []


def test_a_part_is_not_delivered_as_a_reply() -> None:
    world = _broken()
    broken = world.called
    world.say(PART)
    (finding,) = stream_error_handled(world.end())
    assert finding.code == "stream_error_handled.passed_off"
    assert finding.events == (broken, world.called)


def test_a_part_may_be_delivered_as_one() -> None:
    assert not list(stream_error_handled(_broken().say(PART, status="truncated").end()))
    assert not list(stream_error_handled(_broken().say(f"{PART} ... it broke off").end()))


def test_somebody_says_what_happened() -> None:
    world = _broken().take("next", "m2")
    broken = world.history.trace.exchanges[0].n
    settled = world.history.trace.turns["main", 1].settled_n
    (finding,) = stream_error_handled(world.final("x").end())
    assert (finding.code, finding.events) == ("stream_error_handled.silent", (broken, settled))


def test_code_without_an_outbox_may_raise_what_nobody_sees() -> None:
    world = FailingWorld(seams=("model",))
    world.turn("When does it leave?")
    assert not list(stream_error_handled(world.breaks(WHOLE).end()))


def test_parts_that_were_shown_tell_nothing() -> None:
    world = _broken().say(PART, "partial").say("", "heartbeat")
    assert codes(stream_error_handled(world.end())) == ["stream_error_handled.silent"]


@pytest.mark.parametrize("how", ["hung", "limit", "killed"])
def test_an_agent_that_was_stopped_could_not_say_it(how: str) -> None:
    assert not list(stream_error_handled(_broken().end(how)))


@pytest.mark.parametrize(
    ("parent", "expected"), [("main", []), ("", ["stream_error_handled.silent"])]
)
def test_a_child_tells_its_parent_and_not_the_user(parent: str, expected: list[str]) -> None:
    run = Sessions().take().model()
    part = run.history.note(assistant(WHOLE))
    run.model("a", parent=parent, blocks=part, complete=False, outcome="error", steps=SENT)
    assert codes(stream_error_handled(run.model().say().end())) == expected


def test_a_cancelled_turn_owes_no_word() -> None:
    assert not list(stream_error_handled(_broken().cancel().end()))


def test_a_kill_breaks_an_answer_off_and_nobody_is_to_blame() -> None:
    world = FailingWorld()
    world.turn("Go.")
    world.breaks(WHOLE, steps=(Sent(2, 60), Kill())).row(assistant(PART)).killed()
    assert not list(stream_error_handled(world.end()))


def test_an_error_status_is_no_broken_stream() -> None:
    assert not list(stream_error_handled(FailingWorld().turn("Go.").fail(529).end()))


def test_an_answer_of_which_nothing_came_is_no_part() -> None:
    world = FailingWorld()
    world.turn("Go.")
    assert not list(stream_error_handled(world.breaks("x", steps=(Raise("timeout"),)).end()))


def test_characters_are_not_lost_between_chunks() -> None:
    world = FailingWorld().turn("Hello?").reply("\u306f\u3044").final("\ufffd\u3044")
    (finding,) = stream_error_handled(world.end())
    exchange = world.history.trace.exchanges[0].n
    assert finding.code == "stream_error_handled.chunks"
    assert finding.events == (exchange, world.called)


@pytest.mark.parametrize("said", ["\u306f\u3044 \ufffd", "half \ud83d", "ascii"])
def test_replacement_characters_may_have_a_reason(said: str) -> None:
    world = FailingWorld().turn("Hello?").reply(said).final("half \ufffd")
    assert not list(stream_error_handled(world.end()))


def test_a_recording_does_not_show_how_an_answer_ended() -> None:
    world = FailingWorld(world="recording")
    world.turn("When does it leave?")
    assert not list(stream_error_handled(world.breaks(WHOLE, steps=()).say(PART).end()))
