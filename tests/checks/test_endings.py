"""How a turn ends: calls beside a stop, a fallback without tools, lost words, running limits."""

from __future__ import annotations

import queue
from typing import Any

import pytest

from harness import InboxItem, Scenario, Turn, run
from harness.checks.conversation import history_faithful
from harness.checks.false_stops import no_false_stop
from harness.checks.message_delivery import outbound_once
from harness.checks.truthfulness import truthful_outcome
from harness.core.scenario.scenario import FaultSpec
from harness.core.values.messages import ToolResult, assistant, results, user
from harness.core.values.profile import Profile
from tests.checks.histories import Story, codes, use

DROPPED = ["truthful_outcome.dropped"]
WITHOUT_TOOLS = ["truthful_outcome.without_tools"]
FORGOTTEN_WORDS = ["history_faithful.forgotten_words"]
AFTER = ["outbound_once.after_cancel"]
UNASKED = ["no_false_stop.unasked"]


@pytest.mark.parametrize("stop", ["end_turn", "stop"])
def test_calls_beside_a_stop_are_not_dropped(stop: str) -> None:
    dropped = Story().turn("go").reply("I will look.", use("list"), stop=stop).final("I will look.")
    assert codes(truthful_outcome(dropped.end())) == DROPPED
    told = Story().turn("go").reply("I will look.", use("list"), stop=stop)
    assert codes(truthful_outcome(told.final("I could not look.", "failed").end())) == []
    ran = Story().turn("go").reply("I will look.", use("list"), stop=stop).tool("a, b")
    assert codes(truthful_outcome(ran.reply("a and b").final().end())) == []


def test_a_call_of_a_tool_that_was_not_offered_may_be_dropped() -> None:
    unknown = Story().turn("go").reply("Hm.", use("unheard_of"), stop="end_turn").final("Hm.")
    assert codes(truthful_outcome(unknown.end())) == []


def test_a_fallback_without_tools_does_not_answer_for_the_agent() -> None:
    bare = Story().turn("go").fail(529).reply("I can only guess.", tools=False)
    assert codes(truthful_outcome(bare.final().end())) == WITHOUT_TOOLS
    told = Story().turn("go").fail(529).reply("I can only guess.", tools=False)
    assert codes(truthful_outcome(told.final(status="degraded").end())) == []
    same = Story().turn("go").fail(529).reply("Seven.")
    assert codes(truthful_outcome(same.final().end())) == []
    last_word = Story().turn("go").reply(use("list")).tool("a").reply("That is all.", tools=False)
    assert codes(truthful_outcome(last_word.final().end())) == []


def _next_request(said: str, kept: str) -> list[str]:
    call = use("list", id="t1")
    story = Story().turn("go").reply(said, call).tool("a, b")
    sent = assistant(kept, call) if kept else assistant(call)
    story.reply("done", messages=[user("go"), sent, results(ToolResult("t1", "a, b"))])
    return codes(history_faithful(story.final().end()))


def test_words_beside_a_call_are_kept() -> None:
    assert _next_request("I will look into the bowl.", "") == FORGOTTEN_WORDS
    assert _next_request("I will look into the bowl.", "I will look into the bowl.") == []
    assert _next_request("I will look.", "I  will\nlook.") == []
    assert _next_request("<think>The bowl?</think>I will look.", "I will look.") == []
    assert _next_request("<think>The bowl?</think>", "") == []
    long = "I will look into the bowl. It is the blue one, on the floor beside the door."
    assert _next_request(long, f"{long[:30]}\n[... shortened ...]\n{long[-20:]}") == []
    assert _next_request(long, f"{long[:30]}\n{long[-20:]}") == FORGOTTEN_WORDS
    assert _next_request("Hm.", "") == []


def test_an_earlier_answer_beside_kept_words_hides_none_of_them() -> None:
    """The agent changed its past, so the next request is read from its first message on."""
    call, said = use("list", id="t1"), "Let me look."
    story = Story().turn("go").reply(said, call).tool("a, b")
    sent = [user("hi"), assistant("yes"), user("go"), assistant(said, call)]
    story.reply("done", messages=[*sent, results(ToolResult("t1", "a, b"))])
    assert codes(history_faithful(story.final().end())) == []


def test_a_limit_of_a_turn_does_not_run_on_over_the_turns() -> None:
    def second(text: str = "two", **ending: str) -> list[str]:
        story = Story().turn("one").reply("1").final().turn(text)
        return codes(no_false_stop(story.say("The time is over.", **ending).end()))

    assert second(kind="error", status="limit") == UNASKED
    assert second(status="limit") == UNASKED
    assert second(text="/model x", status="command") == []
    assert second(text=" ", kind="error", status="failed") == []
    first = Story().turn("one").say("Not configured.", "error", "failed")
    assert codes(no_false_stop(first.end())) == []


def _resends(brief: Any) -> None:
    """An agent that sends all that it has ever said again at a start, with a note."""
    client, kept = brief.anthropic(), brief.session_dir
    for path in sorted(kept.glob("*.txt")):
        brief.send(f"(perhaps again) {path.read_text()}", in_reply_to=path.stem)
    for message in brief.inbox():
        asked = [{"role": "user", "content": message.text}]
        text = client.messages.create(model="any", max_tokens=99, messages=asked).content[0].text
        (kept / f"{message.id}.txt").write_text(text)
        brief.send(text, in_reply_to=message.id)


@pytest.mark.parametrize(
    ("seam", "n", "is_found"),
    [("outbox", 1, False), ("model", 2, True)],
)
def test_a_reply_that_had_arrived_before_the_session_went_on_is_not_sent_again(
    seam: Any, n: int, is_found: bool
) -> None:
    scenario = Scenario(
        name="killed",
        inbox=(InboxItem(id="m1", text="Good morning."), InboxItem(id="m2", text="Good night.")),
        script=(Turn(say="Good morning to you."), Turn(say="Sleep well.")),
        faults=(FaultSpec(kind="gateway.killed", on=seam, when=n, settings={"at": "after"}),),
    )
    found = run(scenario, _resends, isolate=True).verdict.findings
    again = [f.message for f in found if f.code == "outbound_once.twice"]
    words = "turn 1 of main sends its reply again after a start, and it had arrived before"
    assert again == [words] * is_found


PARTS = ["Bake it for an hour. ", "Let it cool. ", "Then eat it."]


@pytest.mark.parametrize(
    ("sent", "is_told"),
    [
        (PARTS, False),
        ([f"{part}({n}/3)" for n, part in enumerate(PARTS, 1)], False),
        ([f"[{n}/3] {part}" for n, part in enumerate(PARTS, 1)], False),
        (PARTS[:2], True),
        ([*PARTS, PARTS[0]], True),
        ([PARTS[1], PARTS[0], PARTS[2]], True),
        ([*PARTS, "".join(PARTS)], True),
    ],
)
def test_a_reply_may_come_in_parts(sent: list[str], is_told: bool) -> None:
    story = Story().turn("one").reply("".join(PARTS))
    for part in sent:
        story.final(part)
    assert codes(outbound_once(story.end())) == ["outbound_once.twice"] * is_told


@pytest.mark.parametrize(("note", "found"), [("(Again) ", []), ("No. ", AFTER)])
def test_a_reply_from_before_a_stop_may_be_sent_again_with_a_note(
    note: str, found: list[str]
) -> None:
    """The outbox was silent about the first one. Its words stand behind the note."""
    story = Story().turn("go").reply("It is done.").unsent("It is done.", "timeout").cancel()
    story.final(f"{note}It is done." if not found else "I did it.")
    assert codes(outbound_once(story.end())) == found


@pytest.mark.parametrize(("note", "is_found"), [("(Again) ", False), ("Well: ", False), ("", True)])
def test_a_copy_that_comes_before_the_retry_of_a_reply_changes_nothing(
    note: str, is_found: bool
) -> None:
    """The outbox was silent about the reply, and the message came again before the retry."""

    def agent(brief: Any) -> None:
        todo: queue.Queue[Any] = queue.Queue()
        brief.on_message(todo.put).add_done_callback(lambda _: todo.put(None))
        client, seen = brief.anthropic(), set()
        while (message := todo.get()) is not None:
            if message.id in seen:
                continue
            seen.add(message.id)
            said = [{"role": "user", "content": message.text}]
            reply = client.messages.create(model="any", max_tokens=99, messages=said)
            try:
                brief.send(reply.content[0].text, in_reply_to=message.id)
            except TimeoutError:
                brief.clock.sleep(2)
                brief.send(f"{note}{reply.content[0].text}", in_reply_to=message.id)

    scenario = Scenario(
        name="copy", inbox=(InboxItem(id="m1", text="go"), InboxItem(id="m1", text="go")),
        script=(Turn(say="It is done."),),
        faults=(FaultSpec(kind="gateway.confirmation_lost", on="outbox"),),
    )  # fmt: skip
    found = codes(run(scenario, agent, profile=Profile(inbound="queue")).verdict.findings)
    assert [code for code in found if code.startswith("outbound_once")] == (
        ["outbound_once.unmarked"] if is_found else []
    )
