"""What runs is what the user allowed, and the model learns what the user decided."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from harness import ApprovalTurn, Brief, InboxItem, Scenario, ToolScript, ToolTurn, Turn, run
from harness.checks.approvals import approval
from harness.checks.false_stops import no_false_stop
from harness.checks.tool_execution import args_complete
from harness.core.values.calls import InboxRequest
from harness.core.values.messages import ToolUse
from tests.checks.histories import Story, codes, use

PATH = {"path": "a"}


def _asked(call: ToolUse | None = None, **settings: Any) -> Story:
    story = Story(settings={"gated": ["write"], **settings})
    return story.turn("go").reply(call or use("write", PATH))


def _found(story: Story) -> list[str]:
    return codes(approval(story.reply("x").final().end()))


@pytest.mark.parametrize(
    ("answer", "found"),
    [("allow", []), ("deny", ["approval.denied"]), ("expired", ["approval.denied"])],
)
def test_a_call_runs_only_where_the_user_allows_it(answer: str, found: list[str]) -> None:
    assert _found(_asked().ask(answer).tool("written")) == found


def test_a_denial_reaches_the_model_with_its_reason() -> None:
    told = _asked().ask("deny", reason="not today").refuse("Denied: not today.")
    assert _found(told) == []
    hidden = _asked().ask("deny", reason="not today").refuse("Interrupted.")
    assert _found(hidden) == ["approval.untold"]
    plain = _asked().ask("deny").refuse("Interrupted.")
    assert _found(plain) == []


def _one_of_two_denied() -> Story:
    """The user denies the first of two calls, and is not asked about the second."""
    two = [use("write", PATH, id="a"), use("write", {"path": "b"}, id="b")]
    story = Story(settings={"gated": ["write"]}).turn("go").reply(*two)
    return story.ask("deny").refuse("Denied.")


def test_a_denial_that_the_user_did_not_give_is_told() -> None:
    assert _found(_one_of_two_denied().refuse("The user declined this action.")) == [
        "approval.untold"
    ]
    allowed = _asked().ask().refuse("Not run: rejected by the user.")
    assert _found(allowed) == ["approval.untold"]


@pytest.mark.parametrize(
    "text",
    ["Not run: the policy forbids it.", "The user gave no answer.", "The operator denied it."],
)
def test_what_is_no_denial_of_the_user_may_be_told(text: str) -> None:
    assert _found(_one_of_two_denied().refuse(text)) == []


def test_a_denial_may_be_kept_for_an_equal_call() -> None:
    denied = _asked().ask("deny").refuse("The user declined this action.")
    again = denied.reply(use("write", PATH)).refuse("The user declined this action before.")
    assert _found(again) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [("Denied by the us [... shortened ...]", []), ("Denied.", ["approval.untold"])],
)
def test_a_reason_may_be_cut_where_the_prompt_is_too_long(text: str, found: list[str]) -> None:
    """The agent shortens all results once the API has refused the prompt, and says so."""
    told = _asked().ask("deny", reason="not today").refuse(text)
    assert _found(told.fail(400, "V23", refused=("V23",), tokens=900)) == found
    plenty = _asked().ask("deny", reason="not today").refuse(text)
    assert _found(plenty) == ["approval.untold"]


@pytest.mark.parametrize(
    ("text", "error", "found"),
    [("", False, ["approval.untold"]), (" ", False, ["approval.untold"]), ("", True, [])],
)
def test_an_empty_result_says_nothing_of_a_denial(text: str, error: bool, found: list[str]) -> None:
    assert _found(_asked().ask("deny").refuse(text, error=error)) == found
    assert _found(_asked().ask("deny", reason="not today").refuse(text, error=error)) == (
        ["approval.untold"]
    )


def test_the_edited_input_is_what_runs_and_what_the_model_reads_of() -> None:
    edit = {"path": "folder/b"}
    told = _asked().ask(input=edit).tool("written to folder/b", input=edit)
    assert _found(told) == []
    assert codes(args_complete(told.history)) == []
    assert _found(_asked().ask(input=edit).tool("written", input=edit)) == ["approval.untold"]
    lost = _asked().ask(input=edit).tool("written")
    assert _found(lost) == ["approval.input"]


@pytest.mark.parametrize(("text", "found"), [("unknown", []), ("written", ["approval.untold"])])
def test_the_note_of_an_edit_goes_with_the_result_that_a_kill_took(
    text: str, found: list[str]
) -> None:
    """The model reads that the outcome is unknown. With the result, it reads the note too."""
    edit = {"path": "folder/b"}
    killed = _asked().ask(input=edit).tool("written", input=edit).killed()
    assert _found(killed.told(text)) == found


@pytest.mark.parametrize(
    ("edit", "found"), [(None, ["no_false_stop.refused"]), ({"path": "b"}, [])]
)
def test_a_gate_of_yes_and_no_may_take_another_input_for_a_no(edit: Any, found: list[str]) -> None:
    story = _asked().ask(input=edit).refuse("Denied: use b.").reply("Not written.").final().end()
    assert codes(no_false_stop(story)) == found
    assert codes(approval(story)) == []


@pytest.mark.parametrize(("late_ms", "found"), [(0, ["no_false_stop.refused"]), (60_000, [])])
def test_a_wait_for_the_user_may_end_before_the_answer(late_ms: int, found: list[str]) -> None:
    story = _asked().ask(late_ms=late_ms).refuse("Not run: no answer within ten minutes.")
    assert codes(no_false_stop(story.reply("Not written.").final().end())) == found


def test_an_answer_counts_for_the_call_that_it_names() -> None:
    other = _asked().ask(id="t9").tool("written")
    assert _found(other) == ["approval.another"]
    again = _asked().ask(id="t9").ask().tool("written")
    assert _found(again) == []


def test_what_the_user_has_denied_is_not_asked_again_at_once() -> None:
    assert _found(_asked().ask("deny").ask("deny").refuse("Denied.")) == ["approval.again"]
    assert _found(_asked().ask("expired").ask("deny").refuse("Denied.")) == []


def test_what_the_user_has_allowed_is_not_asked_again() -> None:
    assert _found(_asked().ask().ask().tool("written")) == ["approval.again"]
    assert _found(_asked().ask(late_ms=0).tool("written")) == []
    late = _asked().ask(late_ms=5_000)
    late.at_ms += 5_000
    assert _found(late.ask().tool("written")) == []


def test_each_call_of_a_gated_tool_is_asked_for_unless_the_user_always_allows_it() -> None:
    two = use("write", PATH), use("write", {"path": "b"})
    for always, found in ((False, ["approval.not_asked"]), (True, [])):
        story = Story(settings={"gated": ["write"]}).turn("go").reply(*two)
        story.ask(always=always).tool("written").tool("written")
        assert _found(story) == found
    assert _found(_asked().tool("written")) == []  # an agent without questions has no such seam
    declared = {"profile": {"capabilities": {"approvals": True}}}
    assert _found(_asked(**declared).tool("written")) == ["approval.not_asked"]
    assert _found(Story(settings=declared).turn("go").reply(use("write", PATH)).tool("x")) == []
    free = Story(settings={"gated": ["write"]}).turn("go").reply(use("write", PATH), use("list"))
    assert _found(free.ask().tool("written").tool("a, b")) == []


def test_a_call_waits_for_the_answer() -> None:
    assert _found(_asked().ask(late_ms=5_000).tool("written")) == ["approval.denied"]
    again = _asked().ask(late_ms=5_000)
    again.at_ms += 5_000
    assert _found(again.ask().tool("written")) == []


def test_calls_of_one_id_and_one_input_are_asked_about_as_one() -> None:
    calls = [use("write", PATH, "same")] * 2
    story = Story(settings={"gated": ["write"]}).turn("go").reply(*calls)
    assert _found(story.ask().tool("written").tool("written")) == []
    other = [use("write", PATH, id_) for id_ in ("a", "b")]
    story = Story(settings={"gated": ["write"]}).turn("go").reply(*other)
    assert _found(story.ask().tool("written").tool("written")) == ["approval.not_asked"]


INTERRUPT = {"profile": {"inbound": "interrupt"}}


def _allowed_after(kind: str, **start: Any) -> Story:
    """A question is open as the user stops the turn or writes; the answer comes in the turn
    after."""
    story = _asked(**start).ask(late_ms=5_000)
    story.take("Which day is it?", "m2", kind=kind, reader=kind == "message")
    story.say("Stopped.", status="cancelled")
    story.at_ms += 5_000
    return story if kind == "message" else story.take("Thank you.", "m3")


def test_a_stop_closes_the_question_of_its_turn() -> None:
    late = _allowed_after("cancel").tool("written")
    assert _found(late) == ["approval.stopped"]
    asked_again = _allowed_after("cancel").ask().tool("written")
    assert _found(asked_again) == []


@pytest.mark.parametrize(
    ("came_ms", "found"), [(2_000, ["approval.stopped"]), (4_000, []), (6_000, [])]
)
def test_a_call_looks_for_a_stop_once_it_is_allowed(came_ms: int, found: list[str]) -> None:
    story = _asked().ask(late_ms=5_000)
    story.at_ms += 5_000
    story.tool("written")
    key, where = story._key("inbox"), {**story._where(), "turn": 1}
    story.history.called(**where, key=key, seam="inbox", request=InboxRequest(poll=True))
    stop = {"id": "c1", "kind": "cancel", "at_ms": came_ms}
    story.history.answered(**where, key=key, seam="inbox", value=stop)
    assert _found(story.say("Stopped.", status="cancelled")) == found


def test_a_message_that_interrupts_answers_another_thing() -> None:
    assert _found(_allowed_after("message", **INTERRUPT).tool("written")) == []


def test_a_disconnect_is_no_stop() -> None:
    """The user is gone, and comes back to answer."""
    assert _found(_allowed_after("disconnect").tool("written")) == []


def test_a_late_always_allows_the_calls_of_the_tool_after_a_stop() -> None:
    story = _asked().ask(late_ms=5_000, always=True).take("Stop.", "c1", kind="cancel")
    story.say("Stopped.", status="cancelled")
    story.at_ms += 5_000
    later = story.take("Go on.", "m3").reply(use("write", {"path": "b"})).tool("written")
    assert _found(later) == []


def test_a_stop_ends_the_turn_that_is_open_and_not_the_one_that_a_message_has_ended() -> None:
    story = _asked(**INTERRUPT).ask(late_ms=5_000).take("Which day is it?", "m2", reader=True)
    story.say("Stopped.", status="cancelled").take("", "c1", kind="cancel")
    story.say("Stopped.", status="cancelled")
    story.at_ms += 5_000
    assert _found(story.take("Thank you.", "m3").tool("written")) == []


def test_a_turn_that_goes_on_beside_a_message_was_not_stopped() -> None:
    story = _asked(**INTERRUPT).take("Which day is it?", "m2", reader=True)
    story.at_ms += 1_000
    hidden = story.ask("deny", reason="not today").refuse("Interrupted.")
    assert _found(hidden) == ["approval.untold"]


PAY = ToolScript(
    script=(ToolTurn(ok="paid", times="forever"),),
    approval=(
        ApprovalTurn(answer="expire", after_s=60),
        ApprovalTurn(names="call_other"),
        ApprovalTurn(answer="deny", reason="Not now.", after_s=5),
        ApprovalTurn(answer="always"),
    ),
)
SCENARIO = Scenario(
    name="asks",
    policy="open",
    tools={"pay": PAY, "free": ToolScript()},
    inbox=(InboxItem(text="Pay."),),
    script=(Turn(say="Hello."),),
)


def test_the_user_answers_in_the_order_of_the_script_and_stays_by_an_answer() -> None:
    answers: list[Any] = []

    def agent(brief: Brief) -> None:
        for message in brief.inbox():
            for number in (1, 1, 1, 1, 2, 3):
                answers.append(brief.ask("pay", {"sum": number}, id=f"call_{number}"))
            answers.append(brief.ask("free", {"sum": 9}, id="call_9"))
            assert [tool.needs_approval for tool in brief.tools] == [True, False]
            said = brief.anthropic().messages.create(
                model="m", max_tokens=9, messages=[{"role": "user", "content": message.text}]
            )
            brief.send(said.content[0].text)
            answers.append(brief.clock.now_ms())

    run(SCENARIO, agent)
    *said, now_ms = answers
    assert [a.answer for a in said] == [
        "expired",
        "allow",
        "deny",
        "deny",
        "allow",
        "allow",
        "allow",
    ]
    assert said[1].id == "call_other"
    assert [a.always for a in said[4:]] == [True, True, False]
    assert said[5].input == {"sum": 3}
    assert now_ms == 65_000


LATE = Scenario(
    name="late",
    policy="open",
    tools={"pay": ToolScript(approval=(ApprovalTurn(after_s=100), ApprovalTurn(answer="deny")))},
    inbox=(InboxItem(text="Pay."),),
    script=(Turn(say="Hello."),),
)


def _hello(brief: Brief) -> None:
    asked = [{"role": "user", "content": "Pay."}]
    said = brief.anthropic().messages.create(model="m", max_tokens=9, messages=asked)
    brief.send(said.content[0].text)


def test_an_agent_that_gives_up_the_wait_gets_the_answer_when_it_asks_again() -> None:
    seen: list[Any] = []

    def agent(brief: Brief) -> None:
        for _ in brief.inbox():
            for timeout_s in (30, 30, None, 0):
                try:
                    said = brief.ask("pay", {"sum": 1}, id="call_1", timeout_s=timeout_s)
                    seen.append((said.answer, brief.clock.now_ms()))
                except TimeoutError:
                    seen.append(("no answer", brief.clock.now_ms()))
            _hello(brief)

    run(LATE, agent)
    assert seen == [
        ("no answer", 30_000),
        ("no answer", 60_000),
        ("allow", 100_000),
        ("allow", 100_000),
    ]


def test_an_async_agent_waits_for_several_answers_at_once_and_may_give_one_up() -> None:
    seen: list[Any] = []

    async def agent(brief: Brief) -> None:
        for _ in brief.inbox():
            asks = [brief.ask_async("pay", {"sum": n}, id=f"call_{n}") for n in (1, 2)]
            seen.extend(said.answer for said in await asyncio.gather(*asks))
            seen.append(brief.clock.now_ms())
            try:
                async with asyncio.timeout(5):
                    await brief.ask_async("slow", {}, id="call_3")
            except TimeoutError:
                seen.append(brief.clock.now_ms())
            _hello(brief)

    tools = {**LATE.tools, "slow": ToolScript(approval=(ApprovalTurn(after_s=60),))}
    run(msgspec.structs.replace(LATE, tools=tools), agent)
    assert seen == ["allow", "deny", 100_000, 105_000]
