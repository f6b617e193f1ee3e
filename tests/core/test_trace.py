"""The trace: what belongs together in a history."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.core.history.exchanges import grow, root
from harness.core.history.history import decode, encode
from harness.core.values.calls import OutboxRequest
from harness.core.values.messages import Message, assistant, user
from tests.checks.histories import Story, use

LISTS = st.lists(st.lists(st.sampled_from("abc"), max_size=8), max_size=8)


@given(LISTS)
def test_equal_lists_are_one_node_and_others_are_not(lists: list[list[str]]) -> None:
    tree = root()
    nodes = [grow(tree, [(text, user(text)) for text in texts]) for texts in lists]
    for texts, node in zip(lists, nodes, strict=True):
        assert [message.text for message in node.messages] == texts
    for a, left in zip(lists, nodes, strict=True):
        for b, right in zip(lists, nodes, strict=True):
            assert (left is right) == (a == b)


@given(st.lists(st.sampled_from("abc")), st.integers(0, 12))
def test_the_first_part_of_a_list_is_its_node(texts: list[str], depth: int) -> None:
    whole = grow(root(), [(text, user(text)) for text in texts])
    assert [m.text for m in whole.first(depth).messages] == texts[:depth]


def test_requests_are_rebuilt_from_what_they_keep() -> None:
    story = Story().turn("one").reply("1").final().turn("two").reply("2").final()
    first, second = story.end().trace.exchanges
    assert [m.text for m in first.node.messages] == ["one"]
    assert [m.text for m in second.node.messages] == ["one", "1", "two"]
    assert [node.message.text for node in second.added] == ["1", "two"]
    assert second.node.newest() == (user("two"),)


def test_a_request_that_drops_messages_leaves_the_earlier_ones_alone() -> None:
    short = [user("summary"), assistant("ok"), user("two")]
    story = Story().turn("one").reply("1").final().turn("two").reply("2", messages=short)
    first, second = story.end().trace.exchanges
    assert [m.text for m in first.node.messages] == ["one"]
    assert list(second.node.messages) == short


def test_the_same_request_again_has_the_same_content() -> None:
    story = Story().turn("one").fail(529).fail(529).reply("1", messages=[user("other")])
    first, second, third = story.end().trace.exchanges
    assert first.content == second.content != third.content


def test_a_tool_runs_for_the_answer_that_asked_for_it() -> None:
    story = Story().turn("go").reply(use("list"), use("poll")).tool("a").refuse("no").reply("x")
    trace = story.end().trace
    ran, refused = trace.asks
    assert ran.execution is trace.executions[0]
    assert ran.execution.ask is ran
    assert not ran.refused
    assert refused.refused
    assert refused.sent is not None
    assert refused.sent.text == "no"


def test_a_call_that_was_not_answered_yet_is_not_refused() -> None:
    story = Story().turn("go").reply(use("list"))
    assert not story.history.trace.asks[0].refused


def test_turns_hold_what_belongs_to_them_and_settle_at_the_next_look() -> None:
    story = Story().turn("one").reply(use("list")).tool().reply("1").final()
    story.turn("two").reply("2").final()
    first, second = story.end().trace.turns.values()
    assert (first.text, second.text) == ("one", "two")
    assert (len(first.main), len(second.main)) == (2, 1)
    assert (first.settled_by, second.settled_by) == ("next", "returned")
    assert [s.request.text for s in first.endings] == ["1"]
    assert first.settled_n < second.opened_n < second.settled_n


def test_an_open_turn_is_not_settled() -> None:
    turn = next(iter(Story().turn("one").reply("1").history.trace.turns.values()))
    assert turn.settled_n == 0


def test_a_cancel_belongs_to_the_open_turn() -> None:
    story = Story().turn("one").cancel()
    turns = story.end().trace.turns
    assert [turn.cancelled_n > 0 for turn in turns.values()] == [True]


def test_a_compaction_is_its_call_with_its_retries_and_the_next_request() -> None:
    story = Story().turn("one").fail(400, "V23", refused=("V23",), tokens=100)
    story.fail(529, purpose="compact").reply("sum", purpose="compact")
    story.reply("1", messages=[user("sum")], tokens=10)
    (compaction,) = story.end().trace.compactions
    assert len(compaction.calls) == 2
    assert not compaction.failed
    assert compaction.before is not None
    assert compaction.after is not None
    assert (compaction.before.size, compaction.after.size) == (100, 10)


def test_a_notice_joins_the_compaction_that_it_tells_of() -> None:
    story = Story().turn("one").reply("sum", purpose="compact").say("compacted", "compaction")
    story.reply("1")
    assert len(story.end().trace.compactions) == 1


def test_a_notice_joins_a_compaction_that_only_the_next_request_proves() -> None:
    summary = "The user wants to see Oslo in the spring, with a stick."
    story = Story().turn("one").fail(400, "V23", refused=("V23",))
    story.reply(summary, messages=[user("Summarise it.")]).say("compacted", "compaction")
    story.reply("1", messages=[user(summary)])
    (compaction,) = story.end().trace.compactions
    assert compaction.notice is not None
    assert [e.used_as for e in compaction.calls] == ["compact"]


def test_a_torn_history_still_has_a_trace() -> None:
    story = Story().turn("one").reply("1").final()
    events = [event for event in story.end().events if type(event).__name__ != "Noted"]
    (exchange,) = decode(encode(events)).trace.exchanges
    assert exchange.node.messages == (Message("user"),)


def test_a_trace_is_read_again_when_the_history_grows() -> None:
    story = Story().turn("one").reply("1")
    before = story.history.trace
    assert story.history.trace is before
    story.final()
    assert story.history.trace is not before
    assert len(story.history.trace.sendings) == 1


def test_notices_around_the_calls_belong_to_one_compaction() -> None:
    story = Story().turn("one").say("begins", "compaction").reply("sum", purpose="compact")
    story.say("done", "compaction").reply("x")
    (compaction,) = story.history.trace.compactions
    assert [exchange.purpose for exchange in compaction.calls] == ["compact"]
    assert compaction.after is not None
    story.say("begins", "compaction").reply("sum", purpose="compact").say("done", "compaction")
    assert len(story.end().trace.compactions) == 2


def test_after_a_restart_a_reply_belongs_to_the_turn_of_its_message() -> None:
    """Without a restart, and in another session, it belongs to the turn that is running."""
    for restarts, session, owner in ((0, "main", "m2"), (1, "main", "m1"), (1, "other", "m2")):
        story = Story().of(session).turn("one").of("main").turn("two", name="m2")
        for _ in range(restarts):
            story.history.started(run="again", scenario="story", world="simulate")
        request = OutboxRequest("final", "Done.", "m1", "ok")
        where = {"key": "main/outbox#1", "session": "main", "seam": "outbox"}
        story.history.called(**where, turn=story.history.past.turn("main"), request=request)
        turns = story.history.trace.turns.values()
        (found,) = (turn.delivery for turn in turns if turn.sendings)
        assert found is not None
        assert found.inbound.id == owner
