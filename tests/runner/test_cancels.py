"""Cancels: an agent that takes only messages gets no cancel, and one that got it is judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from harness import InboxItem, Run, Scenario, ToolScript, ToolTurn, Turn, run
from harness.agent import agent as reference
from harness.core.values.profile import Profile
from tests.runner import agents
from tests.transports.world import loopback, transition

LATE = (
    InboxItem(id="m1", text="Who is Ada?"),
    InboxItem(id="c1", kind="cancel", when={"after": "main/outbox#1"}),
    InboxItem(id="m2", text="Are you there?"),
)
IN_THE_TURN = (LATE[0], InboxItem(id="c1", kind="cancel", when={"after": "main/model#1"}), LATE[2])
TWO_TURNS = (Turn(use="look_up"), Turn(say="Here I am.", times="forever"))
TOOLS = {"look_up": ToolScript(script=(ToolTurn(ok="found", times="forever"),))}


def codes(result: Run) -> set[str]:
    return {finding.code for finding in result.verdict.findings}


def played(agent: Callable[..., Any], inbox: tuple[InboxItem, ...], *turns: Turn) -> Run:
    script = turns or (Turn(say="Here I am.", times="forever"),)
    return run(Scenario(name="cancels", inbox=inbox, tools=TOOLS, script=script), agent)


def with_memory(brief: Any, **taking: bool) -> None:
    """An agent written like the README: it handles each inbox item as a message."""
    client, tools, messages = brief.anthropic(), {t.name: t for t in brief.tools}, []
    offered = [{"name": name, "input_schema": t.input_schema} for name, t in tools.items()]
    for inbound in brief.inbox(**taking):
        messages.append({"role": "user", "content": inbound.text or "?"})
        reply = None
        while reply is None or reply.stop_reason == "tool_use":
            reply = client.messages.create(
                model="m", max_tokens=64, messages=messages, tools=offered
            )
            blocks = [block.model_dump(exclude_none=True) for block in reply.content]
            messages.append({"role": "assistant", "content": blocks})
            if calls := [block for block in reply.content if block.type == "tool_use"]:
                results = [
                    {
                        "type": "tool_result",
                        "tool_use_id": call.id,
                        "content": tools[call.name].call(call.input, id=call.id),
                    }
                    for call in calls
                ]
                messages.append({"role": "user", "content": results})
        brief.send(reply.content[-1].text, in_reply_to=inbound.id)


@pytest.mark.parametrize("agent", [with_memory, reference])
@pytest.mark.parametrize("inbox", [LATE, (LATE[0], InboxItem(id="c1", kind="cancel"), LATE[2])])
def test_a_cancel_between_turns_is_no_message(
    inbox: tuple[InboxItem, ...], agent: Callable[..., Any]
) -> None:
    result = played(agent, inbox)
    assert codes(result) == set()
    assert result.verdict.outcome == "completed"


def test_an_agent_that_is_never_told_of_a_cancel_is_not_judged_for_it() -> None:
    assert codes(played(with_memory, IN_THE_TURN, *TWO_TURNS)) == set()


def test_an_agent_that_asks_for_cancels_and_takes_them_for_messages_is_found() -> None:
    def agent(brief: Any) -> None:
        with_memory(brief, cancels=True)

    assert {"cancel_honoured.request", "outbound_once.twice"} <= codes(played(agent, LATE))


def test_an_agent_that_was_told_in_the_turn_and_goes_on_is_found() -> None:
    def agent(brief: Any) -> None:
        client = brief.anthropic()
        for inbound in brief.inbox():
            agents.ask(client, inbound.text)
            if brief.cancelled():
                agents.ask(client, inbound.text + "?")
            brief.send("Here I am.", in_reply_to=inbound.id)

    found = codes(played(agent, IN_THE_TURN))
    assert {"cancel_honoured.request", "outbound_once.after_cancel"} <= found


def test_a_cancel_of_a_turn_that_goes_on_waits_until_its_worker_asks() -> None:
    inbox = (
        InboxItem(id="a", text="go"),
        InboxItem(id="b", text="go", session="blue"),
        InboxItem(id="c", kind="cancel", when={"after": "main/inbox#2"}),
        InboxItem(id="d", text="and you?", session="blue"),
    )
    run = transition(inbox=inbox)
    for _ in inbox:
        run.next_inbound(0)
    assert [e.value["id"] for e in run.history.events if getattr(e, "value", None)] == [
        "a", "b", "d"
    ]  # fmt: skip
    assert run.cancelled("main", 0)


@pytest.mark.parametrize(
    ("query", "ids"), [("", ["m1", "m2"]), ("?cancels=true", ["m1", "c1", "m2"])]
)
def test_over_http_cancels_come_when_they_are_asked_for(query: str, ids: list[str]) -> None:
    inbox = (LATE[0], InboxItem(id="c1", kind="cancel"), LATE[2])
    with loopback(transition(inbox=inbox)) as server, httpx2.Client() as agent:
        met = [agent.get(server.urls.inbox + query) for _ in ids]
        assert agent.get(server.urls.inbox + query).status_code == 204
    assert [answer.json()["id"] for answer in met] == ids


def test_over_http_a_program_asks_whether_its_turn_is_cancelled() -> None:
    with loopback(transition(inbox=IN_THE_TURN)) as server, httpx2.Client() as agent:
        agent.get(server.urls.inbox)
        url = f"{server.urls.inbox}/cancelled"
        said = [agent.get(url).json(), agent.get(url, params={"session": "blue"}).json()]
        agent.post(f"{server.urls.model}/v1/messages", json=agents_request())
        said.append(agent.get(url).json())
    assert said == [{"cancelled": False}, {"cancelled": False}, {"cancelled": True}]


def agents_request() -> dict[str, Any]:
    return {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}


def test_a_cancel_that_was_passed_over_excuses_nothing() -> None:
    def agent(brief: Any) -> None:
        for inbound in brief.inbox():
            agents.ask(brief.anthropic(), inbound.text)

    result = played(agent, (LATE[0], InboxItem(id="c1", kind="cancel")))
    assert (codes(result), result.verdict.outcome) == ({"outbound_once.missing"}, "none")


def test_a_cancel_that_nobody_asked_for_is_not_undelivered() -> None:
    def agent(brief: Any) -> None:
        [first, *later] = brief.inbox()
        for inbound in (*later, first):
            agents.ask(brief.anthropic(), inbound.text)
            brief.send("Here I am.", session=inbound.session, in_reply_to=inbound.id)

    blue = InboxItem(id="b", text="go", session="blue")
    due, never = (
        InboxItem(id=f"c{n}", kind="cancel", when={"after": f"main/inbox#{n}"}) for n in (2, 9)
    )
    result = played(agent, (LATE[0], blue, due, never))
    ended = result.history.trace.ended
    assert ended is not None
    assert (ended.undelivered, ended.unplayed_messages) == ((), ("c9 (after main/inbox#9)",))


def test_a_timed_cancel_of_a_turn_that_may_go_on_is_not_undelivered() -> None:
    """A message that comes twice gets no second answer, so its turn stays open."""
    again, blue = LATE[0], InboxItem(id="b", text="go", session="blue")
    late = InboxItem(id="c1", kind="cancel", when={"ms": 700})
    result = run(
        Scenario(name="cancels", inbox=(again, late, again, blue), policy="open",
                 script=(Turn(say="Here I am.", times="forever"),)),
        reference,
    )  # fmt: skip
    ended = result.history.trace.ended
    assert ended is not None
    assert ended.undelivered == ()
    assert not result.verdict.findings


def test_a_timed_cancel_behind_a_dropped_copy_is_not_undelivered() -> None:
    """The harness ends the inbox: what it left out is not the agent's doing."""

    def agent(brief: Any) -> None:
        done: set[str] = set()

        def take(message: Any) -> None:
            if message.id not in done:
                agents.ask(brief.anthropic(), message.text)
                brief.send("Here I am.", in_reply_to=message.id)
            done.add(message.id)

        brief.on_message(take).result()

    late = InboxItem(id="c1", kind="cancel", when={"ms": 1})
    result = run(
        Scenario(name="cancels", inbox=(LATE[0], LATE[0], late), profile=Profile(inbound="queue"),
                 policy="open", script=(Turn(say="Here I am.", times="forever"),)),
        agent,
    )  # fmt: skip
    ended = result.history.trace.ended
    assert ended is not None
    assert ended.undelivered == ()


def test_a_message_whose_moment_comes_after_the_end_of_the_inbox_never_came() -> None:
    def agent(brief: Any) -> None:
        for inbound in [*brief.inbox()]:
            agents.ask(brief.anthropic(), inbound.text)
            brief.send("Here I am.", in_reply_to=inbound.id)

    later = InboxItem(id="m9", text="And then?", when={"after": "model#1"})
    ended = played(agent, (LATE[0], later)).history.trace.ended
    assert ended is not None
    assert (ended.undelivered, ended.unplayed_messages) == ((), ("m9 (after model#1)",))
