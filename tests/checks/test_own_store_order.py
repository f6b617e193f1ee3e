"""A store of the agent's own is read beside its writes: their order is not judged, the rest is."""

from __future__ import annotations

import json
import queue
from typing import Any

import pytest

from harness import InboxItem, Scenario, Turn, run
from harness.checks.durability import durable_first
from harness.checks.judge import judge
from harness.checks.message_delivery import inbound_exactly_once
from harness.checks.request_form import role_alternation
from harness.checks.stored_session import reload_equivalence
from harness.core.history.events import StoredRow
from harness.core.history.history import History
from harness.core.scenario.scenario import SeedMessage, Session
from harness.core.values.messages import (
    Message,
    Text,
    ToolResult,
    ToolUse,
    assistant,
    parts,
    results,
    user,
)
from harness.core.values.profile import Profile
from tests.checks.histories import Story, codes, use

OWN: dict[str, Any] = {"settings": {"own_store": True}}


def late(**start: Any) -> History:
    """A turn whose rows are seen only after its reply was delivered."""
    story = Story(stores=False, **start).turn("one").reply("1").final()
    return story.row(user("one"), assistant("1")).end()


def test_rows_that_are_seen_late_are_no_finding_in_a_store_of_the_agents_own() -> None:
    assert codes(durable_first(late())) == ["durable_first.inbound", "durable_first.reply"]
    assert codes(durable_first(late(**OWN))) == []


def test_what_is_not_asked_is_said() -> None:
    verdict = judge(late(**OWN))
    assert verdict.findings == ()
    aside = {n.check for n in verdict.not_applicable}
    assert {"durable_first.inbound", "durable_first.reply"} <= aside
    assert "durable_first" not in verdict.passed
    assert "durable_first" in judge(Story().turn("one").reply("1").final().end()).passed


def test_a_reply_that_an_own_store_never_keeps_is_still_found() -> None:
    story = Story(stores=False, **OWN).turn("one").reply("1").final().row(user("one"))
    found = {finding.code for finding in judge(story.end()).findings}
    assert "reload_equivalence.lost_reply" in found


def told(history: History) -> list[str]:
    return [finding.code for finding in judge(history).findings]


def one_turn_late(
    *, of_first: list[Message], of_second: list[Message], ask: str = "two"
) -> History:
    """Each turn's rows are seen only after the next one has begun."""
    story = Story(stores=False, **OWN).turn("one").reply("1").final()
    story.turn(ask).row(*of_first).reply("2").final()
    return story.row(*of_second).end()


def test_rows_that_come_after_the_turn_are_those_of_the_turn() -> None:
    first, second = [user("one"), assistant("1")], [user("two"), assistant("2")]
    assert told(one_turn_late(of_first=first, of_second=second)) == []


def test_equal_words_of_two_turns_are_stored_once_each() -> None:
    story = Story(stores=False, **OWN)
    for _ in range(3):
        story.turn("go on").reply("done").final()
    rows = [user("go on"), assistant("done")]
    assert told(story.turn("go on").row(*rows * 3).reply("done").final().row(*rows).end()) == []


def test_equal_words_that_are_seen_one_turn_late_are_no_duplicate() -> None:
    story = Story(stores=False, **OWN).turn("go on").reply("done").final()
    rows = [user("go on"), assistant("done")]
    story.turn("go on").row(*rows).reply("done").final()
    story.turn("stop").row(*rows).reply("over").final()
    assert told(story.row(user("stop"), assistant("over")).end()) == []


def test_a_row_that_never_comes_is_lost_however_late_the_others_are() -> None:
    first, second = [user("one")], [user("two"), assistant("2")]
    assert "reload_equivalence.lost_reply" in told(one_turn_late(of_first=first, of_second=second))
    first, second = [assistant("1")], [user("two"), assistant("2")]
    found = told(one_turn_late(of_first=first, of_second=second))
    assert "reload_equivalence.lost_inbound" in found


def test_a_row_that_a_kill_took_does_not_come_late() -> None:
    story = Story(stores=False, **OWN).turn("one").row(user("one")).reply("1").final()
    story.turn("two").row(user("two")).killed()
    story.history.started(run="story", scenario="story", world="simulate", seams=("model",))
    story.turn("three").row(assistant("1"), user("three")).reply("3").final().row(assistant("3"))
    assert "reload_equivalence.lost_reply" in told(story.end())


def test_a_reply_that_stands_before_its_message_in_the_end_is_found() -> None:
    first, second = [assistant("1"), user("one")], [user("two"), assistant("2")]
    assert "reload_equivalence.order" in told(one_turn_late(of_first=first, of_second=second))


def test_a_message_that_stands_twice_in_the_end_is_found() -> None:
    first, second = [user("one"), user("one"), assistant("1")], [user("two"), assistant("2")]
    assert "inbound_exactly_once.twice" in told(one_turn_late(of_first=first, of_second=second))


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_kill_at_a_write_takes_no_row_of_an_equal_text(is_kept: bool) -> None:
    """Both turns are answered "Done."; the second answer stands in the file at the kill."""
    story = Story(stores=False, **OWN).turn("one").row(user("one"), assistant("Done."))
    story.reply("Done.").final().turn("two").row(user("two")).reply("Done.")
    story.killed("files#2:garbled marks.jsonl")
    if is_kept:
        story.row(assistant("Done."))
    story.history.started(run="r", scenario="s", world="simulate", attempt=1, **OWN)
    assert ("reload_equivalence.lost_reply" in told(story.say("Done.").end())) != is_kept


def test_rows_of_another_session_are_not_those_of_the_turn() -> None:
    rows = [user("one"), assistant("1")]
    for session, is_lost in (("main", False), ("other", True)):
        story = Story(stores=False, **OWN).turn("one").reply("1").final()
        found = told(story.row(*rows, session=session).end())
        assert ("reload_equivalence.lost_reply" in found) == is_lost


def test_what_the_store_has_under_another_session_is_told_as_that() -> None:
    for said, where in (("1", ": the store has its words under the session a_b"), ("2", "")):
        story = Story(stores=False, **OWN).turn("a").reply("1").final()
        history = story.row(assistant(said), session="a_b").end()
        lost = [f for f in reload_equivalence(history) if f.code == "reload_equivalence.lost_reply"]
        assert (
            lost[0].message == f"turn 1 of main: the reply was delivered and is not stored{where}"
        )


def test_two_sessions_may_have_calls_of_one_id() -> None:
    for session, found in (("other", []), ("main", ["reload_equivalence.duplicate"])):
        story = Story(stores=False, **OWN).turn("one")
        story.row(user("one"), assistant(use("list", id="t1")), session="main")
        story.row(assistant(use("poll", id="t1")), session=session)
        assert codes(reload_equivalence(story.end())) == found


@pytest.mark.parametrize(
    ("stored_as", "copies", "found"),
    [
        (("", ""), 1, []),
        (("", ""), 2, ["inbound_exactly_once.twice"] * 2),
        (("ada", "bob"), 1, []),
        (("ada", "bob"), 2, ["inbound_exactly_once.twice"] * 2),
    ],
)
def test_a_row_without_a_session_may_be_that_of_another_user(
    stored_as: tuple[str, str], copies: int, found: list[str]
) -> None:
    story = Story(stores=False, **OWN)
    for session in ("ada", "bob"):
        story.of(session).turn("one", f"{session}1").reply("1", messages=[user("one")]).final()
    for session in stored_as:
        story.row(*[user("one")] * copies, assistant("1"), session=session)
    assert codes(inbound_exactly_once(story.end())) == found


def test_the_words_of_a_later_message_may_hold_those_of_an_earlier_one() -> None:
    first, second = [user("one"), assistant("1")], [user("one more"), assistant("2")]
    assert told(one_turn_late(of_first=first, of_second=second, ask="one more")) == []


def test_an_own_store_may_have_two_rows_of_one_side_between_turns_only() -> None:
    first, second = [user("one"), assistant("1")], [user("two"), assistant("2")]
    history = one_turn_late(of_first=first, of_second=second)
    assert codes(role_alternation(history, wire=False)) == []
    story = Story(stores=False, **OWN).turn("one").row(user("one")).reply("1").final()
    story.turn("two").row(assistant("1"), user("two")).reply("2").final().row(assistant("2"))
    assert codes(role_alternation(story.end(), wire=False)) == []
    first = [user("one"), assistant("so"), assistant("1")]
    history = one_turn_late(of_first=first, of_second=second)
    assert codes(role_alternation(history, wire=False)) == ["role_alternation.store"]


def test_old_words_of_another_session_are_no_duplicate_of_this_one() -> None:
    for session, found in (("other", []), ("main", ["reload_equivalence.duplicate"])):
        story = Story(stores=False, **OWN).turn("one").reply("1").final()
        story.row(user("one"), assistant("1"), session="main").turn("two").reply("2").final()
        story.row(user("two"), assistant("2"), session="main").turn("three").reply("3").final()
        story.row(user("three"), assistant("3"), session="main").row(
            assistant("1"), session=session
        )
        assert codes(reload_equivalence(story.end())) == found


SEED = [user("one"), user("one"), assistant("1"), assistant("1")]


@pytest.mark.parametrize(("seeded", "is_found"), [(4, False), (0, True)])
def test_rows_of_the_seed_may_be_taken_with_the_first_message(seeded: int, is_found: bool) -> None:
    story = Story(stores=False, settings={"own_store": True, "seeded": seeded})
    story.live += [user("one"), assistant("1")]
    story.turn("one").row(*SEED, user("one")).reply("2").final()
    assert bool(told(story.row(assistant("2")).end())) is is_found


@pytest.mark.parametrize(("name", "found"), [("m1", False), ("m2", True)])
def test_a_message_that_comes_after_its_reply_has_its_row(name: str, found: bool) -> None:
    """The agent drops it, and sends the reply again that a kill had left."""
    story = Story(stores=False, **OWN).turn("one", "m1").row(user("one")).fail(529)
    story.final("Out of order.", "failed", "error").killed().turn("one", name)
    story.say("(sent again) Out of order.", "error", "failed")
    assert ("reload_equivalence.lost_inbound" in codes(reload_equivalence(story.end()))) is found


def test_a_message_with_half_a_character_is_not_the_seed() -> None:
    """The agent leaves the blank seed out, and no file can hold the message as it is."""
    story = Story(stores=False, settings={"own_store": True, "seeded": 1})
    story.turn("half \\udcff of it").row(user("half ? of it")).reply("1").row(assistant("1"))
    assert "inbound_exactly_once.lost" not in told(story.final().end())


@pytest.mark.parametrize(("took", "found"), [(("m2",), False), ((), True)])
def test_an_equal_message_that_the_turn_takes_in_has_a_row_too(
    took: tuple[str, ...], found: bool
) -> None:
    story = Story(stores=False, **OWN).turn("one", "m1").row(user("one"))
    if took:
        story.take("one", "m2", reader=True)
    story.row(user("one")).reply("1", request={"took": took}).row(assistant("1")).final()
    assert ("inbound_exactly_once.twice" in told(story.end())) is found


@pytest.mark.parametrize(("seeded", "is_found"), [(2, False), (0, True)])
def test_the_seed_may_be_copied_before_the_message_is_written(seeded: int, is_found: bool) -> None:
    """Its rows together have the words of the message."""
    story = Story(stores=False, settings={"own_store": True, "seeded": seeded})
    story.live += [user("one"), assistant("1")]
    story.turn("one\n\n1").row(user("one"), assistant("1")).row(user("one\n\n1"))
    story.reply("2").final().row(assistant("2"))
    assert bool(told(story.end())) is is_found


def test_the_notice_of_a_stopped_turn_stands_behind_its_message_and_not_behind_the_seed() -> None:
    story = Story(stores=False, settings={"own_store": True, "seeded": 1}).turn("one").cancel()
    story.row(user("one"), assistant("Stopped.")).final("Stopped.", "cancelled")
    assert not told(story.end())


def test_a_seed_with_the_words_of_the_first_message_may_be_copied_alone() -> None:
    story = Story(stores=False, settings={"own_store": True, "seeded": 2})
    story.live += (seed := [user("one"), assistant("1")])
    story.turn("one").row(*seed).row(user("one")).reply("2").row(assistant("2"))
    assert not told(story.final().end())


@pytest.mark.parametrize(("copies", "found"), [(1, False), (2, True)])
@pytest.mark.parametrize("other", [ToolResult("b", "2"), Text("one")])
def test_an_agent_may_keep_each_block_of_the_seed_in_a_row(
    other: ToolResult | Text, copies: int, found: bool
) -> None:
    seed = Message("user", (ToolResult("a", "1"), other, Text("one")))
    story = Story(stores=False, settings={"own_store": True, "seeded": parts(seed)})
    rows = [Message("user", (block,)) for block in seed.blocks]
    story.turn("one").row(*rows, *[user("one")] * copies)
    story.reply("2").row(assistant("2")).final()
    assert ("inbound_exactly_once.twice" in told(story.end())) is found


def _queue(brief: Any) -> None:
    """Keeps its rows in a file, the seed first, and each message as its turn begins."""
    client, path = brief.anthropic(), brief.session_dir / "rows.jsonl"
    todo: queue.Queue[Any] = queue.Queue()

    def kept(role: str = "", text: str = "") -> list[dict[str, Any]]:
        if not path.exists():
            path.write_text((brief.session_dir / "seed.jsonl").read_text())
        with path.open("a") as file:
            blocks = [{"type": "text", "text": text}]
            file.write(json.dumps({"role": role, "blocks": blocks}) + "\n")
        rows = map(json.loads, path.read_text().splitlines())
        return [{"role": row["role"], "content": row["blocks"][0]["text"]} for row in rows]

    brief.on_message(todo.put).add_done_callback(lambda _: todo.put(None))
    while (message := todo.get()) is not None:
        messages = kept("user", message.text.encode("utf-8", "replace").decode())
        reply = client.messages.create(model="any", max_tokens=500, messages=messages)
        kept("assistant", reply.content[0].text)
        brief.send(reply.content[0].text, in_reply_to=message.id)


@pytest.mark.parametrize("text", ["old", "half \ud83d of it"])
def test_a_message_that_waits_is_stored_before_its_turn_asks(text: str) -> None:
    """Its words are those of the seed, or cannot be stored as they are."""
    inbox = (InboxItem(id="m1", text="one"), InboxItem(id="m2", text=text, when={"ms": 0}))
    talk = SeedMessage(role="user", content="old"), SeedMessage(role="assistant", content="Yes.")
    script = (Turn(say="First."), Turn(say="Second."))
    scenario = Scenario(name="queue", session=Session(messages=talk), inbox=inbox, script=script)
    played = run(scenario, _queue, store="jsonl:rows.jsonl", profile=Profile(inbound="queue"))
    assert [f.code for f in played.verdict.findings] == []


def test_neighbours_that_a_reader_joins_are_not_gone() -> None:
    story = Story(stores=False, settings={"own_store": True}).row(user("a"), assistant("b"))
    story.row(assistant("c")).turn("one").row(user("one"))
    name = story.history.note(assistant("b", "c", use("list", id="t1")), story.at_ms)
    changed = (StoredRow("r2", name),)
    story.history.stored(**story._where(), store="jsonl", changed=changed, gone=("r3",))
    assert "reload_equivalence.gone" not in told(story.reply("1").final().end())


def test_a_message_that_is_stored_twice_behind_the_seed_is_found() -> None:
    story = Story(stores=False, settings={"own_store": True, "seeded": 2})
    story.turn("two").row(user("one"), assistant("1")).reply("2").final()
    story.row(user("two"), user("two"), assistant("2"))
    assert "inbound_exactly_once.twice" in told(story.end())


@pytest.mark.parametrize(("times", "found"), [(1, False), (2, True)])
def test_a_seed_that_a_kill_took_back_is_taken_in_again(times: int, found: bool) -> None:
    call = assistant(ToolUse("same", "list", {}))
    story = Story(stores=False, **OWN).row().killed()
    for _ in range(times):
        story.row(call, call)
    story.turn("one").row(user("one")).reply("x").row(assistant("x")).final()
    assert ("reload_equivalence.duplicate" in codes(reload_equivalence(story.end()))) is found


@pytest.mark.parametrize(
    ("calls", "answers", "gone", "found"),
    [
        ((), ("c1",), ("r1",), False),  # an orphan, which no request can hold
        (("c1",), ("c1", "c1"), ("r3",), False),  # a second result of one call
        (("c1",), ("c1",), ("r2",), True),
        (("c1",), ("c1",), ("r1", "r2"), True),
    ],
)
def test_a_repair_may_take_out_results_that_no_call_waits_for(
    calls: tuple[str, ...], answers: tuple[str, ...], gone: tuple[str, ...], found: bool
) -> None:
    story = Story(stores=False, **OWN)
    story.row(*(assistant(ToolUse(name, "list", {})) for name in calls))
    story.row(*(results(ToolResult(name, "a")) for name in answers))
    story.turn("one").row(user("one")).gone(*gone).reply("x").row(assistant("x")).final()
    assert ("reload_equivalence.gone" in codes(reload_equivalence(story.end()))) is found


@pytest.mark.parametrize(("value", "found"), [({}, False), ({"path": "b"}, True)])
def test_a_repair_may_give_a_call_another_id(value: dict[str, str], found: bool) -> None:
    story = Story(stores=False, **OWN).row(assistant(ToolUse("", "list", {})))
    story.turn("one").row(user("one")).change("r1", assistant(ToolUse("call_1", "list", value)))
    story.reply("x").row(assistant("x")).final()
    assert ("reload_equivalence.changed" in codes(reload_equivalence(story.end()))) is found


def test_a_reply_that_a_reader_joins_to_a_call_without_its_result_is_stored() -> None:
    """A Responses list: what the assistant says behind an unanswered call is of one message."""
    story = Story(stores=False).turn("one").row(user("one"), labels=["m1"])
    call = use("list", id="t1")
    story.reply(call).row(assistant(call)).killed().reply("I was restarted.")
    story.change("r2", assistant(call, Text("I was restarted.")))
    found = codes(reload_equivalence(story.say("I was restarted.").end()))
    assert not [code for code in found if code.endswith((".lost_reply", ".order"))]


def test_replies_in_equal_words_to_messages_that_wait_are_each_stored_once() -> None:
    """After two kills an agent closes two turns in the same words, and then a third one begins."""
    story = Story(stores=False).turn("one", "m1").row(user("one"), labels=["m1"]).reply("1")
    story.take("two", "m2", reader=True).killed().take("last", "m3").killed()
    for name in ("m1", "m2"):
        story._name = name
        story.row(assistant("I was interrupted.")).say("I was interrupted.", "error")
    story.take("last", "m3").reply("3", messages=[user("last")])
    story.row(user("last"), assistant("3"), labels=["m3", ""]).say("3")
    assert "reload_equivalence.duplicate" not in codes(reload_equivalence(story.end()))


@pytest.mark.parametrize("is_summed", [True, False])
def test_a_log_may_hold_again_what_a_summary_leaves(is_summed: bool) -> None:
    """Rows are only added to it: the model reads from the newest summary on."""
    call, result = assistant(use("list", id="t1")), results(ToolResult("t1", "two ships"))
    story = Story(stores=False, **OWN).turn("one").row(user("one"), call, result)
    story.reply("They greeted.", purpose="compact")
    summary = [user("So far: They greeted.")] if is_summed else []
    story.row(*summary, call, result)
    told_so = codes(reload_equivalence(story.history))
    assert ("reload_equivalence.duplicate" in told_so) is not is_summed
