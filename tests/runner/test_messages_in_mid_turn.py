"""Messages that come while a turn is open: for each policy, right agents and their wrong twins."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.agents.gateway import agent as gateway
from harness.checks.message_delivery import inbound_exactly_once
from harness.core.history.history import History
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.values.calls import Inbound
from harness.core.values.profile import InboundPolicy, Profile
from harness.runner import run
from tests.catalogue.agents.mid_turn import Reader

SCENARIO = Scenario(
    name="steps",
    policy="open",
    tools={"step": ToolScript(script=(ToolTurn(ok="done", times="forever"),))},
    inbox=(
        InboxItem(text="Do two steps."),
        InboxItem(text="Rather one.", when={"after": "main/tool#1"}),
        InboxItem(text="Thanks."),
    ),
    script=(Turn(use="step"), Turn(use="step"), Turn(say="Done.", times="forever")),
)


class Agent(Reader):
    """A loop with a queue of what a reader took, which it may look into between two steps."""

    def __init__(self, brief: Any, policy: str) -> None:
        super().__init__(brief)
        self.policy, self.client = policy, brief.anthropic()
        self.history: list[dict[str, Any]] = []
        self.tools = {tool.name: tool for tool in brief.tools}
        self.offered = [
            {"name": t.name, "description": t.description, "input_schema": t.input_schema}
            for t in brief.tools
        ]

    def work(self) -> None:
        while (message := self.following()) is not None:
            self.turn([message, *(self.came() if self.policy == "collect" else ())])

    def turn(self, taken: list[Inbound]) -> None:
        texts = [{"type": "text", "text": m.text} for m in taken]
        before = self.history.pop()["content"] if self.is_cut else []
        self.history.append({"role": "user", "content": before + texts})
        while calls := self.asked():
            results = [self.result(call) for call in calls]
            more = self.came() if self.policy not in ("queue", "collect") else []
            if self.policy in ("interrupt", "silent") and more:
                self.history.append({"role": "user", "content": results})
                if self.policy == "interrupt":
                    self.say("Stopped.", in_reply_to=taken[-1].id, status="cancelled")
                self.turn(more)
                return
            if self.policy == "past":
                self.history[0]["content"] += [{"type": "text", "text": m.text} for m in more]
            if self.policy == "steer":
                taken = taken + more
                results += [{"type": "text", "text": m.text} for m in more]
            self.history.append({"role": "user", "content": results})
        self.say(self.said, in_reply_to=taken[-1].id)

    def say(self, text: str, **about: str) -> None:
        """Send, and send again what the channel refuses."""
        for _ in range(3):
            with suppress(OSError, RuntimeError):
                return self.brief.send(text, **about)
        return None

    @property
    def is_cut(self) -> bool:
        """Whether the turn before was interrupted, so that its results are the newest words."""
        return bool(self.history) and self.history[-1]["role"] == "user"

    def asked(self) -> list[Any]:
        reply = self.client.messages.create(
            model="m", max_tokens=99, messages=self.history, tools=self.offered
        )
        content = [block.model_dump(exclude_none=True) for block in reply.content]
        self.history.append({"role": "assistant", "content": content})
        self.said = reply.content[-1].text if reply.content[-1].type == "text" else ""
        return [block for block in reply.content if block.type == "tool_use"]

    def result(self, call: Any) -> dict[str, Any]:
        content = self.tools[call.name].call(call.input, id=call.id)
        return {"type": "tool_result", "tool_use_id": call.id, "content": content}


def in_a_thread(brief: Any, policy: str) -> None:
    agent = Agent(brief, policy)
    reader = threading.Thread(target=agent.read)
    reader.start()
    agent.work()
    reader.join()


async def in_a_task(brief: Any, policy: str) -> None:
    agent = Agent(brief, policy)
    messages = brief.inbox()

    async def read() -> None:
        while (message := await asyncio.to_thread(next, messages, None)) is not None:
            agent.taken.put(message)
        agent.taken.put(None)

    reader = asyncio.create_task(read())
    await asyncio.to_thread(agent.work)
    await reader


def in_a_callback(brief: Any, policy: str) -> None:
    agent = Agent(brief, policy)
    ends = brief.on_message(agent.taken.put)
    ends.add_done_callback(lambda _: agent.taken.put(None))
    agent.work()
    ends.result()


READERS = {"thread": in_a_thread, "task": in_a_task, "callback": in_a_callback}


def played(
    reader: str, does: str, policy: InboundPolicy, scenario: Scenario = SCENARIO
) -> tuple[History, str, list[str]]:
    scenario = msgspec.structs.replace(scenario, profile=Profile(inbound=policy))
    done = run(scenario, lambda brief: READERS[reader](brief, does))
    return done.history, done.verdict.verdict, [f.code for f in done.verdict.findings]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("policy", ["queue", "steer", "interrupt"])
def test_an_agent_passes_by_its_policy(reader: str, policy: InboundPolicy) -> None:
    history, verdict, codes = played(reader, policy, policy)
    assert (verdict, codes) == ("pass", [])
    assert history.past.delivered.total() == 3
    assert history.past.turn("main") == (2 if policy == "steer" else 3)


@pytest.mark.parametrize("reader", READERS)
def test_a_turn_that_a_message_interrupts_may_end_without_a_word(reader: str) -> None:
    history, verdict, codes = played(reader, "silent", "interrupt")
    assert (verdict, codes) == ("pass", [])
    assert history.past.turn("main") == 3


def test_a_callback_reads_ahead_without_a_word_in_the_profile() -> None:
    done = run(SCENARIO, lambda brief: in_a_callback(brief, "steer"))
    assert (done.verdict.verdict, [f.code for f in done.verdict.findings]) == ("pass", [])
    assert done.history.past.delivered.total() == 3
    assert done.history.past.turn("main") == 2


def test_an_error_of_a_callback_is_that_of_its_reader() -> None:
    def agent(brief: Any) -> None:
        def fail(message: Inbound) -> None:
            raise ValueError(message.text)

        brief.on_message(fail).result()

    ended = run(SCENARIO, agent).history.trace.ended
    assert ended is not None
    assert "ValueError: Do two steps." in ended.text


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("policy", ["queue", "steer"])
def test_a_message_that_is_taken_and_forgotten_is_lost(reader: str, policy: InboundPolicy) -> None:
    _, verdict, codes = played(reader, "drop", policy)
    assert verdict == "fail"
    assert "inbound_exactly_once.lost" in codes


@pytest.mark.parametrize(
    ("does", "words"),
    [("past", ": main/model#3 holds it above what the model had read before"), ("drop", "")],
)
def test_a_message_that_is_put_into_the_past_is_told_as_such(does: str, words: str) -> None:
    found = [f.message for f in inbound_exactly_once(played("thread", does, "steer")[0])]
    assert found[0] == f"nothing is done about the message m2, 'Rather one.'{words}"


@pytest.mark.parametrize(
    ("does", "policy", "code"),
    [("steer", "queue", "early"), ("queue", "steer", "late"), ("steer", "collect", "early")],
)
def test_a_message_in_another_turn_than_the_policy_names(
    does: str, policy: InboundPolicy, code: str
) -> None:
    _, verdict, codes = played("thread", does, policy)
    assert (verdict, codes) == ("fail", [f"inbound_exactly_once.{code}"])


@pytest.mark.parametrize(("does", "codes"), [("steer", set()), ("drop", {"lost"})])
def test_the_same_words_in_mid_turn_are_another_message(does: str, codes: set[str]) -> None:
    first, second, *rest = SCENARIO.inbox
    again = msgspec.structs.replace(second, text=first.text)
    scenario = msgspec.structs.replace(SCENARIO, inbox=(first, again, *rest))
    found = played("thread", does, "steer", scenario)[2]
    assert {code.partition(".")[2] for code in found if code.startswith("inbound_")} == codes
    assert found == [] or codes


def test_an_agent_that_collects_leaves_no_message_for_a_second_turn() -> None:
    more = InboxItem(text="And tell me why.", when={"after": "main/tool#1"})
    inbox = (*SCENARIO.inbox[:2], more, SCENARIO.inbox[2])
    scenario = msgspec.structs.replace(SCENARIO, inbox=inbox)
    for does, codes in (("collect", []), ("queue", ["inbound_exactly_once.late"])):
        history, verdict, found = played("thread", does, "collect", scenario)
        assert (verdict, found) == ("fail" if codes else "pass", codes)
        assert history.past.turn("main") == (4 if codes else 3)


class Joins(Agent):
    """Answers in order, and all that waits at once."""

    def work(self) -> None:
        while (message := self.following()) is not None:
            self.turn([message, *self.came()])


@pytest.mark.parametrize(("kind", "codes"), [(Joins, ["inbound_exactly_once.early"]), (Agent, [])])
def test_messages_that_wait_are_answered_one_by_one(kind: type[Agent], codes: list[str]) -> None:
    more = InboxItem(text="And tell me why.", when={"after": "main/tool#1"})
    scenario = msgspec.structs.replace(
        SCENARIO,
        inbox=(*SCENARIO.inbox[:2], more, SCENARIO.inbox[2]),
        profile=Profile(inbound="queue"),
    )

    def agent(brief: Any) -> None:
        one = kind(brief, "queue")
        reader = threading.Thread(target=one.read)
        reader.start()
        one.work()
        reader.join()

    assert [f.code for f in run(scenario, agent).verdict.findings] == codes


def between_two_steps(brief: Any) -> None:
    """Asks for what came between two steps, in one thread, and answers all to the newest."""
    agent, messages = Agent(brief, "steer"), brief.inbox()
    agent.came = lambda: [m for m in (next(messages, None),) if m is not None]  # type: ignore[method-assign]
    for message in messages:
        agent.turn([message])


def test_the_key_is_named_where_the_profile_lacks_it() -> None:
    """An agent that steers looks like one that leaves its turn without a reply."""
    inbox = SCENARIO.inbox[:2]
    scenario = msgspec.structs.replace(SCENARIO, inbox=inbox)
    (found,) = run(scenario, between_two_steps).verdict.findings
    assert found.code == "outbound_once.missing"
    assert 'its profile needs `inbound = "steer"`' in found.message
    done = run(scenario, between_two_steps, profile=Profile(inbound="steer"))
    assert [f.code for f in done.verdict.findings] == []


def test_a_turn_may_end_for_a_message_that_waited_before_it_began() -> None:
    moments = ("main/model#1", "main/model#2")
    came = [InboxItem(text=f"Rather {n}.", when={"after": m}) for n, m in enumerate(moments)]
    scenario = msgspec.structs.replace(
        SCENARIO,
        inbox=(SCENARIO.inbox[0], *came, SCENARIO.inbox[2]),
        script=(*(Turn(use="step", optional=True),) * 3, Turn(say="Done.", times="forever")),
    )
    history, verdict, codes = played("thread", "interrupt", "interrupt", scenario)
    assert (verdict, codes) == ("pass", [])
    assert history.past.delivered.total() == 4


@pytest.mark.parametrize("policy", ["queue", "steer", "interrupt", "collect"])
def test_a_killed_agent_gets_what_it_had_not_taken(policy: InboundPolicy) -> None:
    killed = msgspec.structs.replace(SCENARIO, faults=(FaultSpec(kind="gateway.killed", when=2),))
    history, _, codes = played("thread", policy, policy, killed)
    assert history.past.delivered.total() == 3
    assert "outbound_once.twice" not in codes


@pytest.mark.parametrize("policy", ["queue", "steer", "interrupt", "collect"])
def test_a_refused_reply_ends_no_turn(policy: InboundPolicy) -> None:
    refused = FaultSpec(kind="gateway.flood_wait", when=1)
    channel = msgspec.structs.replace(SCENARIO, faults=(refused,))
    history, verdict, codes = played("thread", policy, policy, channel)
    assert (verdict, codes) == ("pass", [])
    assert [t.text for t in history.trace.turns.values() if not t.endings] == []


def test_a_message_that_comes_again_while_it_is_worked_on_is_in_its_turn() -> None:
    said = InboxItem(id="m1", text="Do two steps.")
    again = msgspec.structs.replace(said, when={"after": "main/tool#1"})
    scenario = msgspec.structs.replace(
        SCENARIO, inbox=(said, again, SCENARIO.inbox[2]), profile=Profile(inbound="queue")
    )
    seen: list[str] = []

    def agent(brief: Any) -> None:
        one = Agent(brief, "queue")
        reader = threading.Thread(target=read_once, args=(one, seen))
        reader.start()
        one.work()
        reader.join()

    done = run(scenario, agent)
    assert (done.verdict.verdict, [f.code for f in done.verdict.findings]) == ("pass", [])
    assert len(seen) == 3


def read_once(agent: Agent, seen: list[str]) -> None:
    for message in agent.brief.inbox():
        if message.id not in seen:
            agent.taken.put(message)
        seen.append(message.id)
    agent.taken.put(None)


MOMENTS = st.sampled_from(["main/model#1", "main/tool#1", "main/model#2", "main/tool#2", ""])
POLICIES: tuple[InboundPolicy, ...] = ("queue", "steer", "interrupt", "collect")


@pytest.mark.real
@settings(max_examples=20)
@given(
    policy=st.sampled_from(POLICIES),
    reader=st.sampled_from(sorted(READERS)),
    moments=st.lists(MOMENTS, max_size=4),
    steps=st.integers(0, 3),
)
def test_a_right_agent_passes_at_any_moment(
    policy: InboundPolicy, reader: str, moments: list[str], steps: int
) -> None:
    came = [
        InboxItem(text=f"And number {n}.", when={"after": moment} if moment else {"ms": 0})
        for n, moment in enumerate(moments)
    ]
    turns = (Turn(use="step", optional=True),) * steps
    scenario = msgspec.structs.replace(
        SCENARIO,
        inbox=(InboxItem(text="Begin."), *came, InboxItem(text="Thanks.")),
        script=(*turns, Turn(say="Done.", times="forever")),
    )
    history, verdict, codes = played(reader, policy, policy, scenario)
    found = [code for code in codes if not code.startswith("run.")]
    assert found == [], [turn.words for turn in history.trace.turns.values()]
    assert verdict != "unknown"
    assert history.past.is_idle


@pytest.mark.parametrize("is_named", [True, False])
def test_one_reply_may_name_several_messages(is_named: bool) -> None:
    def agent(brief: Any) -> None:
        client, messages = brief.anthropic(), brief.inbox()
        taken = [next(messages), next(messages)]
        texts = [{"type": "text", "text": m.text} for m in taken]
        asked = [{"role": "user", "content": texts}]
        client.messages.create(model="m", max_tokens=9, messages=asked)
        brief.send("Both.", in_reply_to=[m.id for m in taken] if is_named else [])
        assert next(messages, None) is None

    inbox = (InboxItem(text="One."), InboxItem(text="Two.", when={"ms": 0}))
    script = (Turn(say="Both.", times="forever"),)
    scenario = msgspec.structs.replace(SCENARIO, inbox=inbox, script=script)
    done = run(scenario, agent, profile=Profile(inbound="collect"))
    assert (done.verdict.verdict, [f.code for f in done.verdict.findings]) == ("pass", [])
    said = done.history.trace.sendings[0].request
    assert said.answers == (("m1", "m2") if is_named else ())


def test_a_request_that_is_sent_again_holds_no_message_that_came_since() -> None:
    inbox = (InboxItem(text="yes"), InboxItem(text="yes", when={"after": "main/model#1"}))
    busy = FaultSpec(kind="http.status", settings={"status": 529}, when=1)
    script = (Turn(say="Done.", times="forever"),)
    scenario = Scenario(name="equal", policy="open", inbox=inbox, script=script, faults=(busy,))
    played = run(msgspec.structs.replace(scenario, profile=Profile(inbound="queue")), gateway)
    assert [finding.code for finding in played.verdict.findings] == []


def test_words_that_a_tool_says_too_are_not_the_message() -> None:
    says = {"step": ToolScript(script=(ToolTurn(ok="Rather one.", times="forever"),))}
    scenario = msgspec.structs.replace(SCENARIO, tools=says)
    assert played("thread", "queue", "queue", scenario)[1:] == ("pass", [])
