"""The client of ACP: an agent that speaks the protocol is played as it is."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from harness import InboxItem, InputError, Run, Scenario, ToolScript, ToolTurn, Turn, Use, run
from harness.core.history.events import Called, Ended, Killed
from harness.core.scenario.scenario import ApprovalTurn, FaultSpec
from harness.core.values.calls import ApprovalRequest, OutboxRequest, ToolRequest
from harness.targets import resolve

AGENT = Path(__file__).with_name("acp_agent.py")

_T = TypeVar("_T")


PAY = ToolScript(
    description="Pay a sum",
    input_schema={
        "type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]
    },
    script=(ToolTurn(ok="paid", effect="paid"),),
)  # fmt: skip


def pays(*answers: ApprovalTurn, **more: Any) -> Scenario:
    """A talk of two messages; the tool of the first asks the user."""
    tool = msgspec.structs.replace(PAY, approval=answers or (ApprovalTurn(),))
    calls = Turn(say="Let me see.", blocks=(Use(name="pay", input={"sum": 15}),))
    script = (calls, Turn(say="I see."), Turn(say="You are welcome."))
    inbox = (InboxItem(text="Pay 15."), InboxItem(text="Thank you."))
    given = {"tools": {"pay": tool}, "inbox": inbox, "script": script, "policy": "open", **more}
    return Scenario(name="pays", **given)


def play(talk: Scenario, *words: str) -> Run:
    """Play it with the small agent."""
    return run(talk, resolve(f"acp:{shlex.join([sys.executable, str(AGENT), *words])}"))


def asked(result: Run, kind: type[_T]) -> list[_T]:
    """The calls of a seam."""
    calls = [event.request for event in result.history.events if isinstance(event, Called)]
    return [call for call in calls if isinstance(call, kind)]


def told(result: Run) -> list[tuple[str, str, str]]:
    """What the user was told: the kind, the text and the status."""
    return [(call.kind, call.text, call.status) for call in asked(result, OutboxRequest)]


def test_each_message_is_a_prompt_and_the_text_after_the_last_call_its_answer() -> None:
    done = play(pays())
    assert told(done) == [("final", "I see.", ""), ("final", "You are welcome.", "")]
    assert [call.input for call in asked(done, ToolRequest)] == [{"sum": 15}]
    assert done.verdict.verdict == "pass", done.verdict.findings


@pytest.mark.parametrize(
    ("answer", "runs"),
    [
        (ApprovalTurn(), 1),
        (ApprovalTurn(answer="always"), 1),
        (ApprovalTurn(answer="deny", reason="Not today."), 0),
        (ApprovalTurn(answer="expire"), 0),
        (ApprovalTurn(input={"sum": 14}), 0),
        (ApprovalTurn(names="another_call"), 1),
    ],
    ids=["allow", "always", "deny", "expire", "edit", "another call"],
)
def test_the_user_is_asked_before_a_call_runs(answer: ApprovalTurn, runs: int) -> None:
    done = play(pays(answer))
    assert [(call.name, call.input) for call in asked(done, ApprovalRequest)] == [
        ("pay", {"sum": 15})
    ]
    assert len(asked(done, ToolRequest)) == runs
    assert done.verdict.verdict == "pass", done.verdict.findings


def test_a_question_may_show_no_input_and_have_another_id() -> None:
    done = play(pays(), "shows-no-input")
    (question,), (ran,) = asked(done, ApprovalRequest), asked(done, ToolRequest)
    assert (question.id, question.input) == (ran.id, {"sum": 15})
    assert done.verdict.verdict == "pass", done.verdict.findings


def test_what_was_told_of_a_call_before_its_question_is_shown() -> None:
    done = play(pays(), "input-apart")
    (question,), (ran,) = asked(done, ApprovalRequest), asked(done, ToolRequest)
    assert (question.id, question.name, question.input) == (ran.id, "pay", {"sum": 15})
    assert done.verdict.verdict == "pass", done.verdict.findings


@pytest.mark.parametrize(
    ("fault", "runs"),
    [("channel_fails", 0), ("about_another_call", 1), ("answered_twice", 1), ("expires", 0)],
)
def test_the_faults_of_the_answer_have_a_meaning(fault: str, runs: int) -> None:
    settings = {"wait_s": 0.1} if fault in ("channel_fails", "expires") else {}
    bent = FaultSpec(kind=f"approvals.{fault}", must_fire=False, settings=settings)
    done = play(pays(faults=(bent,)))
    assert len(asked(done, ToolRequest)) == runs
    assert done.verdict.verdict == "pass", done.verdict.findings


@pytest.mark.real
def test_an_agent_without_http_gets_its_tools_over_standard_streams() -> None:
    done = play(pays(), "no-http")
    assert [call.input for call in asked(done, ToolRequest)] == [{"sum": 15}]
    assert done.verdict.verdict == "pass", done.verdict.findings


@pytest.mark.real
@pytest.mark.parametrize("way", ["", "resumes", "tells-late"])
def test_a_restarted_agent_loads_its_session(way: str) -> None:
    kill = FaultSpec(kind="tools.kills_agent")
    done = play(pays(faults=(kill,)), *way.split())
    assert any(isinstance(event, Killed) for event in done.history.events)
    assert told(done)[-1] == ("final", "You are welcome.", "")
    assert not any("Let me see." in text for _, text, _ in told(done)), "the past is told again"


@pytest.mark.real
def test_an_agent_that_cannot_load_begins_anew() -> None:
    done = play(pays(faults=(FaultSpec(kind="tools.kills_agent"),)), "no-load")
    assert {finding.code for finding in done.verdict.findings} & {
        "history_faithful.forgotten_effect"
    }


@pytest.mark.real
def test_a_cancel_is_told_and_answers_the_open_question() -> None:
    late = ApprovalTurn(after_s=20)
    cancel = InboxItem(kind="cancel", id="c", when={"ms": 2500})
    talk = pays(late)
    done = play(msgspec.structs.replace(talk, inbox=(talk.inbox[0], cancel, talk.inbox[1])))
    assert asked(done, ToolRequest) == []
    assert told(done)[0][2] == "cancelled"


def test_an_error_of_the_agent_is_told_and_its_end_is_a_crash() -> None:
    refused = play(pays(faults=(FaultSpec(kind="http.invalid_request"),)))
    kind, text, _ = told(refused)[0]
    assert (kind, "the model failed" in text) == ("error", True)
    (ended,) = (e for e in play(pays(), "dies").history.events if isinstance(e, Ended))
    assert (ended.how, ended.exit_code) == ("crashed", 7)
    assert "out of luck" in ended.text


def test_another_stop_reason_is_no_answer() -> None:
    kind, text, status = told(play(pays(), "says", "max_turn_requests"))[0]
    assert (kind, text, status) == ("error", "I see.\n[max_turn_requests]", "max_turn_requests")


@pytest.mark.parametrize("words", ["acp:", "acp:no-such-program --acp"])
def test_a_command_is_asked_for(words: str) -> None:
    with pytest.raises(InputError, match="acp"):
        resolve(words)
