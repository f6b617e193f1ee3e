"""What another process writes to the session is not the agent's doing, and excuses nothing else."""

from __future__ import annotations

import pytest

from harness.checks.append_only import append_only_prefix
from harness.checks.evidence.stored_messages import written_by_another
from harness.checks.message_delivery import outbound_once
from harness.checks.request_form import role_alternation
from harness.checks.stored_session import reload_equivalence
from harness.core.values.calls import StoreRequest
from harness.core.values.messages import assistant, user
from tests.checks.histories import Story, codes, use

WRITER = ("persistence.second_writer",)


def _write(story: Story, *faults: str) -> Story:
    """The agent writes to its store, and a fault strikes there."""
    history = story.history
    at = {"key": f"main/store#{story.last}", "seam": "store", "session": "main"}
    at |= {"turn": history.past.turn("main"), "at_ms": 0}
    history.called(request=StoreRequest("append"), **at)  # type: ignore[arg-type]
    history.answered(faults=faults, **at)  # type: ignore[arg-type]
    return story


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ("persistence.second_writer", []),
        ("persistence.second_agent", []),
        ("persistence.disk_full", ["role_alternation.store"]),
    ],
)
def test_a_row_of_another_is_no_row_of_the_turn(fault: str, found: list[str]) -> None:
    story = _write(Story().turn("go"), fault).row(user("From another process: 2")).reply("done")
    assert codes(role_alternation(story.final().end())) == found
    assert len(written_by_another(story.history.trace)) == 1 - len(found)


def test_the_turn_after_it_is_judged() -> None:
    story = _write(Story().turn("go"), *WRITER).row(user("mine")).reply("done").final()
    story.turn("on").row(user("again")).reply("x")
    assert codes(role_alternation(story.final().end())) == ["role_alternation.store"]


def _next_turn(*faults: str) -> Story:
    """A turn during which something is stored, and the next one, which shows it."""
    story = _write(Story().turn("go").reply(use("list")).tool(), *faults).reply("done").final()
    story.turn("on")
    return story.reply("x", messages=[story.live[0], user("other"), *story.live[1:]])


def test_the_next_turn_shows_what_another_has_added() -> None:
    assert codes(append_only_prefix(_next_turn(*WRITER).end())) == []
    assert codes(append_only_prefix(_next_turn().end())) == ["append_only_prefix.messages"]


def test_within_a_turn_a_row_excuses_the_next_request_only() -> None:
    story = _write(Story().turn("go").reply("one"), *WRITER)
    story.reply("two", messages=[user("other"), assistant("one"), user("go")])
    assert codes(append_only_prefix(story.history)) == []
    story.reply("three", messages=[user("once more"), assistant("one"), user("go")])
    assert codes(append_only_prefix(story.end())) == ["append_only_prefix.messages"]


def test_the_kill_before_no_reply_and_the_request_before_a_second_one_are_named() -> None:
    story = Story().turn("one", "m1").reply("1").killed().take("one", "m1").turn("two", "m2")
    (left,) = outbound_once(story.reply("2").final().end())
    assert left.message.endswith(": a kill ended turn 1 of main, and no start takes it up")
    (again,) = outbound_once(Story().turn("one").reply("1").final().reply("2").final("2").end())
    assert again.message.endswith("with different texts: main/model#2 works on it again")


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        ("a &lt; b &amp; c", []),
        ("a &lt; c &amp; b", ["reload_equivalence.lost_reply"]),
    ],
)
def test_a_reply_that_is_stored_plain_may_be_sent_with_its_signs_written_for_html(
    sent: str, found: list[str]
) -> None:
    story = Story(stores=False).turn("one").row(user("one"), labels=["m1"]).reply("a < b & c")
    story.row(assistant("a < b & c"))
    assert codes(reload_equivalence(story.final(sent).end())) == found
