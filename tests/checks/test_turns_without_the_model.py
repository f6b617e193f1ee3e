"""Turns that an agent ends by itself: commands, questions to the user, limits, stored answers."""

from __future__ import annotations

import json
import queue
from typing import Any

import pytest

from harness import InboxItem, Message, Run, Scenario, Text, ToolScript, ToolTurn, Turn, run
from harness.checks.message_delivery import inbound_exactly_once
from harness.checks.stored_session import reload_equivalence
from harness.core.scenario.scenario import Expect, FaultSpec
from harness.core.values.profile import Profile
from tests.checks.histories import Story, codes

COMMAND = Scenario(
    name="command",
    inbox=(
        InboxItem(id="m1", text="Good morning."),
        InboxItem(id="m2", text="/model opus"),
        InboxItem(id="m3", text="How are you?"),
    ),
    script=(Turn(say="Good morning to you."), Turn(say="Well.")),
)
PAY = Scenario(
    name="pay",
    policy="open",
    tools={"pay": ToolScript(script=(ToolTurn(ok="paid", effect="paid", times="forever"),))},
    inbox=(InboxItem(id="m1", text="Pay 15."), InboxItem(id="m2", text="yes, allow it")),
    script=(Turn(use="pay", input={"sum": 15}), Turn(say="It is paid.")),
)


def _found(played: Run) -> set[str]:
    return {f.code for f in played.verdict.findings if f.class_ != "advice"}


class _Chat:
    """An agent of one session; `local` answers a command, or says None for a message."""

    def __init__(self, brief: Any) -> None:
        self.brief, self.client, self.rows = brief, brief.anthropic(), list[dict[str, Any]]()
        self.tools = {tool.name: tool for tool in brief.tools}
        self.offered = [{"name": n, "input_schema": t.input_schema} for n, t in self.tools.items()]

    def ask(self) -> Any:
        reply = self.client.messages.create(
            model="any", max_tokens=99, messages=self.rows, tools=self.offered
        )
        blocks = [block.model_dump(exclude_none=True) for block in reply.content]
        self.rows.append({"role": "assistant", "content": blocks})
        return reply

    def hear(self, content: Any) -> None:
        self.rows.append({"role": "user", "content": content})

    def run(self, call: Any, value: Any) -> None:
        content = self.tools[call.name].call(value, id=call.id)
        self.hear([{"type": "tool_result", "tool_use_id": call.id, "content": content}])


def _commands(send: dict[str, Any] | None, *, text: str = "The model is opus.") -> Any:
    def agent(brief: Any) -> None:
        chat = _Chat(brief)
        for message in brief.inbox():
            if message.text.startswith(("/", "!")):
                if send is not None:
                    brief.send(text, in_reply_to=message.id, **send)
                continue
            chat.hear(message.text)
            brief.send(chat.ask().content[-1].text, in_reply_to=message.id)

    return agent


@pytest.mark.parametrize("send", [{}, {"kind": "notice"}, {"status": "command"}])
def test_a_command_may_be_answered_by_the_program(send: dict[str, Any]) -> None:
    assert _found(run(COMMAND, _commands(send))) == set()


def test_a_command_that_is_dropped_is_lost() -> None:
    found = _found(run(COMMAND, _commands(None)))
    assert {"inbound_exactly_once.lost", "outbound_once.missing"} <= found


def _exclaimed(text: str) -> Scenario:
    inbox = (COMMAND.inbox[0], InboxItem(id="m2", text=text), COMMAND.inbox[2])
    return Scenario(name="command", inbox=inbox, script=COMMAND.script)


def test_a_command_of_another_form_is_said_by_its_status() -> None:
    assert _found(run(_exclaimed("!model opus"), _commands({"status": "command"}))) == set()
    found = _found(run(_exclaimed("!model opus"), _commands({})))
    assert "truthful_outcome.no_answer" in found


@pytest.mark.parametrize(
    ("text", "found"),
    [(" ", []), ("Are you there?", ["no_answer", "forgotten_reply"])],
)
def test_a_blank_message_may_be_answered_by_the_program(text: str, found: list[str]) -> None:
    def agent(brief: Any) -> None:
        chat = _Chat(brief)
        for message in brief.inbox():
            if message.id == "m2":
                brief.send("Your message was empty.", in_reply_to=message.id)
                continue
            chat.hear(message.text)
            brief.send(chat.ask().content[-1].text, in_reply_to=message.id)

    said = {code.partition(".")[2] for code in _found(run(_exclaimed(text), agent))}
    assert {*found} <= said if found else not said


def _letters(brief: Any) -> None:
    """Keeps its outbox in a file, and sends again what a kill left there, marked as such."""
    path = brief.session_dir / "letters.json"
    letters = json.loads(path.read_text()) if path.exists() else {}
    news: queue.Queue[bool] = queue.Queue()

    def take(message: Any) -> None:
        letters.setdefault(message.id, {"text": message.text})
        path.write_text(json.dumps(letters))
        news.put(True)

    brief.on_message(take).add_done_callback(lambda _: news.put(False))
    while news.get():
        for name, letter in [item for item in letters.items() if not item[1].get("sent")]:
            words = f"Again: {letter['said']}" if "said" in letter else ""
            if not words:
                chat = _Chat(brief)
                chat.hear(letter["text"])
                words = letter["said"] = chat.ask().content[-1].text
                path.write_text(json.dumps(letters))
            brief.send(words, in_reply_to=name)
            letter["sent"] = True
            path.write_text(json.dumps(letters))


def test_a_reply_that_is_sent_again_belongs_to_the_turn_that_asked_the_model() -> None:
    """The second message is offered just before a kill, and comes again behind it."""
    inbox = tuple(InboxItem(id=f"m{n}", text=f"Question {n}.") for n in (1, 2, 3))
    kills = FaultSpec(kind="persistence.killed_after_delivery", when=(1, 3))
    script = tuple(Turn(say=f"Answer {n}.") for n in (1, 2, 3))
    scenario = Scenario(name="letters", inbox=inbox, script=script, faults=(kills,))
    found = _found(run(scenario, _letters, profile=Profile(inbound="queue")))
    assert "truthful_outcome.no_answer" not in found


def test_a_path_is_no_command() -> None:
    found = _found(run(_exclaimed("/etc/hosts: what is in it?"), _commands({})))
    assert "truthful_outcome.no_answer" in found


def _asking(value: Any, *, status: str = "waiting", forgets: bool = False) -> Any:
    def agent(brief: Any) -> None:
        chat, parked = _Chat(brief), None
        for message in brief.inbox():
            if parked is not None and forgets:
                brief.send("Fine.", in_reply_to=message.id, status="failed")
                continue
            if parked is not None:
                chat.run(parked, value)
            else:
                chat.hear(message.text)
            reply = chat.ask()
            calls = [block for block in reply.content if block.type == "tool_use"]
            if calls:
                parked = calls[0]
                text = f"May I run {parked.name} with {parked.input}?"
                brief.send(text, in_reply_to=message.id, status=status)
            else:
                brief.send(reply.content[-1].text, in_reply_to=message.id)

    return agent


def test_an_agent_may_ask_and_wait() -> None:
    played = run(PAY, _asking({"sum": 15}))
    assert (_found(played), played.verdict.outcome) == (set(), "completed")


def test_an_agent_that_asks_and_runs_something_else_is_found() -> None:
    assert "args_complete.changed" in _found(run(PAY, _asking({"sum": 1500})))


def test_an_agent_that_asks_without_saying_so_is_found() -> None:
    assert "truthful_outcome.unfinished" in _found(run(PAY, _asking({"sum": 15}, status="ok")))


def test_an_agent_that_asks_and_never_goes_on_is_no_success() -> None:
    scenario = Scenario(
        name="pay", policy="open", tools=PAY.tools, inbox=PAY.inbox, script=PAY.script,
        expect=Expect(outcome="completed"),
    )  # fmt: skip
    found = _found(run(scenario, _asking({"sum": 15}, forgets=True)))
    assert "expect.outcome" in found


LOOP = Scenario(
    name="loop",
    policy="open",
    tools={"pay": ToolScript(script=(ToolTurn(ok="wait", times="forever"),))},
    inbox=(InboxItem(id="m1", text="Pay 15."),),
    script=(Turn(use="pay", times=9), Turn(say="It is paid."), Turn(say="And more.")),
    expect=Expect(outcome="failed_truthfully"),
)


def _limited(status: str | None) -> Any:
    """An agent that stops after three steps, and says so by a status."""

    def agent(brief: Any) -> None:
        chat = _Chat(brief)
        for message in brief.inbox():
            chat.hear(message.text)
            for _ in range(3):
                chat.run(chat.ask().content[-1], {})
            if status is not None:
                text = "I stopped after three steps."
                brief.send(text, in_reply_to=message.id, status=status)

    return agent


@pytest.mark.parametrize("status", ["limit", "waiting", "failed"])
def test_a_turn_that_ends_at_a_limit_of_the_agents_own_leaves_turns_unplayed(status: str) -> None:
    assert _found(run(LOOP, _limited(status))) == set()


def test_a_turn_that_ends_without_a_word_leaves_turns_unplayed_by_mistake() -> None:
    found = _found(run(LOOP, _limited(None)))
    assert {"run.unplayed_turn", "outbound_once.missing"} <= found


KILLED = Scenario(
    name="killed",
    inbox=(InboxItem(id="m1", text="Good morning."), InboxItem(id="m2", text="Good night.")),
    script=(Turn(say="Good morning to you."), Turn(say="Sleep well.")),
    faults=(FaultSpec(kind="gateway.killed", on="outbox", when=1, settings={"at": "after"}),),
)
LATER = Scenario(
    name="killed",
    inbox=KILLED.inbox,
    script=KILLED.script,
    faults=(FaultSpec(kind="gateway.killed", on="outbox", when=1, settings={"at": "before"}),),
)


def _stored(note: str) -> Any:
    """An agent that keeps its answers by the message's id, and sends a kept one again."""

    def agent(brief: Any) -> None:
        chat, rows = _Chat(brief), brief.session_dir / "rows.json"
        chat.rows += json.loads(rows.read_text()) if rows.exists() else []
        for message in brief.inbox():
            kept = brief.session_dir / f"{message.id}.txt"
            if kept.exists():
                brief.send(note + kept.read_text(), in_reply_to=message.id)
                continue
            chat.hear(message.text)
            text = chat.ask().content[-1].text
            kept.write_text(text)
            rows.write_text(json.dumps(chat.rows))
            brief.send(text, in_reply_to=message.id)

    return agent


@pytest.mark.parametrize("scenario", [KILLED, LATER])
def test_a_stored_answer_may_be_sent_again_with_a_note(scenario: Scenario) -> None:
    assert _found(run(scenario, _stored("(perhaps again) "), isolate=True)) == set()


def test_a_stored_answer_that_is_sent_again_without_a_note_is_one_finding() -> None:
    found = run(KILLED, _stored(""), isolate=True).verdict.findings
    assert codes(found) == ["outbound_once.unmarked"]
    assert _found(run(LATER, _stored(""), isolate=True)) == set()


def test_words_about_a_cancel_need_not_be_stored() -> None:
    story = Story(stores=False).turn("go").row(user_row("go"), labels=["m1"]).cancel()
    assert not list(reload_equivalence(story.say("Stopped.", status="cancelled").end()))


@pytest.mark.parametrize("status", ["ok", "failed"])
def test_other_finals_are_stored(status: str) -> None:
    story = Story(stores=False).turn("go").row(user_row("go"), labels=["m1"]).reply("Done.")
    found = codes(reload_equivalence(story.say("Done.", status=status).end()))
    assert found == ["reload_equivalence.lost_reply"]


def user_row(text: str) -> Message:
    return Message("user", (Text(text),))


@pytest.mark.parametrize(("name", "found"), [("m1", False), ("m2", True)])
def test_a_blank_message_that_comes_again_with_words_may_be_dropped(name: str, found: bool) -> None:
    """It was answered under its id, and the channel brings that id again."""
    story = Story(seams=("model", "inbox", "outbox")).turn(" ", "m1").final("It is empty.")
    story.take("a long text", name)
    history = story.turn("two", "m3").reply("2").final().end()
    assert ("inbound_exactly_once.lost" in codes(inbound_exactly_once(history))) is found
