"""One id in two sessions names two messages: chats count their messages from 1."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness import InboxItem, Scenario, Turn, run
from harness.agent import agent as reference
from harness.checks.message_delivery import inbound_exactly_once
from harness.checks.result_content import result_carried
from harness.core.scenario.scenario import FaultSpec
from harness.core.values.messages import ToolResult, assistant, results, user
from tests.checks.histories import Story, codes, use

ALICE, BOB = "Good morning from Alice.", "Good evening from Bob."
TWO = Scenario(
    name="two-chats",
    inbox=(
        InboxItem(id="1", session="alice", text=ALICE),
        InboxItem(id="1", session="bob", text=BOB),
        InboxItem(id="2", session="alice", text="Are you still there?"),
    ),
    script=(Turn(say="Good morning."), Turn(say="Good evening."), Turn(say="I am.")),
)


def _agent(*, by_id_alone: bool = False, mixes: bool = False) -> Any:
    """An agent that takes each message once, by its session and id or by its id alone."""

    def agent(brief: Any) -> None:
        client, seen, said = brief.anthropic(), set[Any](), dict[str, Any]()
        for message in brief.inbox():
            key = message.id if by_id_alone else (message.session, message.id)
            if key in seen:
                continue
            seen.add(key)
            history = said.setdefault("" if mixes else message.session, [])
            history.append({"role": "user", "content": message.text})
            reply = client.messages.create(model="any", max_tokens=99, messages=history)
            history.append({"role": "assistant", "content": reply.content[0].text})
            where = {"session": message.session, "in_reply_to": message.id}
            brief.send(reply.content[0].text, **where)

    return agent


@pytest.mark.parametrize("agent", [reference, _agent()])
def test_an_agent_that_answers_both_passes(agent: Any) -> None:
    assert run(TWO, agent).verdict.verdict == "pass"


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
def test_a_store_keeps_both(store: str) -> None:
    same = tuple(InboxItem(id="1", session=name, text="Hello.") for name in ("alice", "bob"))
    scenario = Scenario(name="hello", inbox=same, script=(Turn(say="Hi."), Turn(say="Hi.")))
    assert run(scenario, f"reference?store={store}").verdict.verdict == "pass"


def test_an_agent_that_never_answers_the_second_fails() -> None:
    found = {f.code for f in run(TWO, _agent(by_id_alone=True)).verdict.findings}
    assert {"inbound_exactly_once.lost", "outbound_once.missing"} <= found


def test_an_agent_that_tells_one_user_the_words_of_the_other_is_found() -> None:
    found = {f.code for f in run(TWO, _agent(mixes=True)).verdict.findings}
    assert "session_isolation.message" in found


def test_a_message_that_is_stored_twice_in_its_session_is_found() -> None:
    story = Story(stores=False).of("bob").turn(BOB, "1").row(user(BOB), labels=["1"])
    story.reply("b").final().of("alice").turn(ALICE, "1")
    story.row(user(ALICE), user(ALICE), labels=["1", "1"])
    found = list(inbound_exactly_once(story.reply("a", messages=[user(ALICE)]).final().end()))
    assert codes(found) == ["inbound_exactly_once.twice"]


def test_a_message_that_starts_two_turns_of_its_session_is_found() -> None:
    again = FaultSpec(kind="gateway.redelivered", on="inbox", when=3)
    three = (
        (*TWO.script, Turn(say="Again.", optional=True)) if isinstance(TWO.script, tuple) else ()
    )
    scenario = Scenario(name="again", inbox=TWO.inbox, script=three, faults=(again,))

    def forgets(brief: Any) -> None:
        client = brief.anthropic()
        for message in brief.inbox():
            asked = [{"role": "user", "content": message.text}]
            reply = client.messages.create(model="any", max_tokens=99, messages=asked)
            where = {"session": message.session, "in_reply_to": message.id}
            brief.send(reply.content[0].text, **where)

    found = {f.code for f in run(scenario, forgets).verdict.findings}
    assert "inbound_exactly_once.twice" in found


def test_a_message_under_a_colliding_key_comes_once() -> None:
    collides = FaultSpec(kind="gateway.session_key_collides", on="inbox", when=2)
    scenario = Scenario(name="collides", inbox=TWO.inbox, script=TWO.script, faults=(collides,))
    history = run(scenario, _agent()).history
    assert [d.inbound.session for d in history.trace.deliveries] == ["alice", "elsewhere", "alice"]


def test_a_result_belongs_to_the_call_of_its_own_session() -> None:
    """A model gives one id in two sessions, and the first list is sent again as a whole."""
    story = Story().of("alice").turn("Go.").reply(use("list", id="one")).tool("").reply("Done.")
    mine = list(story.live)
    story.final().of("bob")
    story.live = []
    story.turn("Go on.").reply(use("list", id="one")).tool("no list", error=True).final("failed")
    story.of("alice").turn("And?").reply("Yes.", messages=[*mine, user("And?")]).final()
    asks = [ask for ask in story.history.trace.asks if ask.exchange.called.session == "bob"]
    assert [ask.sent for ask in asks] == [None]


@pytest.mark.parametrize("name", ["1", "7"])
def test_a_message_of_another_chat_with_its_id_is_not_one_of_those_that_say_the_same(
    name: str,
) -> None:
    """Two messages say the same, and the first had no answer: the request holds both."""
    story = (
        Story(seams=("model", "inbox", "outbox")).turn(ALICE, "1").final("No.", "failed", "error")
    )
    story.session = "bob"
    story.turn(BOB, name).reply("2").final()
    story.session = "main"
    story.turn(ALICE, "2").reply("3", messages=[user(ALICE), user(ALICE)])
    found = codes(inbound_exactly_once(story.final().end()))
    assert "inbound_exactly_once.doubled" not in found


def test_which_of_two_equal_calls_of_one_id_ran_is_not_known() -> None:
    """The user allows the second one, and each has its own result."""
    calls = use("list", id="one"), use("list", id="one")
    story = Story().turn("Go.").reply(*calls).tool("a list of ships")
    story._results = [ToolResult("one", "Not run: denied.", True), ToolResult("two", "a list")]
    story._asked = []
    assert codes(result_carried(story.reply("Done.").final().end())) == []


def test_a_result_is_found_under_the_id_that_the_agent_gave_its_call() -> None:
    """Two calls of one id; the request with both results is too large, and the next one fits."""
    calls = (use("look_up", {"name": "Ada"}, id="same"), use("look_up", {"name": "Bob"}, id="same"))
    story = Story().turn("go").reply(*calls).tool("nobody is called so", error=True)
    story.tool("Bob lives in Oslo.")
    told = (
        ToolResult("same", "nobody is called so", True),
        ToolResult("own", "Bob lives in Oslo."),
    )
    renamed = (calls[0], msgspec.structs.replace(calls[1], id="own"))
    sent = [user("go"), assistant(*renamed), results(*told)]
    story.fail(400, tokens=500, messages=sent, too_large=True)
    story.reply("In Oslo.", tokens=300, messages=sent).final()
    assert codes(result_carried(story.end())) == []
