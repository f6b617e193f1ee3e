"""Profiles of agents whose turns end by a tool, or whose results are text: what holds of them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness import InboxItem, Run, Scenario, ToolError, ToolScript, ToolTurn, Turn, run
from harness.agent.conversation.content import clean
from harness.checks.judge import judge
from harness.core.values.messages import ToolResult, assistant, results, user
from harness.core.values.profile import Profile
from tests.checks.ending_agents import Agent, Chat, leaves_in_a_call, reacts, structured, submits
from tests.checks.histories import Story, use

STORED = ("durable_first", "reload_equivalence", "role_alternation")
CITIES = Scenario(
    name="struct-hello",
    inbox=(
        InboxItem(id="m1", text="Where do I live? I moved to Oslo."),
        InboxItem(id="m2", text="And my brother in Rome?"),
    ),
    script=(
        Turn(use="final_result", input={"city": "Oslo"}),
        Turn(use="final_result", input={"city": "Rome"}),
    ),
)
SHELL = Scenario(
    name="mini-hello",
    tools={"bash": ToolScript(script=(ToolTurn(ok="README.md"), ToolTurn(ok="SUBMIT\nREADME.md")))},
    inbox=(InboxItem(id="m1", text="What is there?"),),
    script=(Turn(use="bash", input={"command": "ls"}), Turn(use="bash", input={"command": "done"})),
)
FULL = ToolTurn(error="the disk is full")
NOTES = Scenario(
    name="react",
    tools={
        "note": ToolScript(script=(ToolTurn(ok="stored as number 4711"), ToolTurn(error="full")))
    },
    inbox=(InboxItem(id="m1", text="Note it."), InboxItem(id="m2", text="Thanks!")),
    script=(
        Turn(use="note", input={"text": "a"}),
        Turn(use="note", input={"text": "b"}),
        Turn(say="The first is noted, the second is not."),
        Turn(say="Welcome."),
    ),
)
BY_TOOL = Profile(turn_ending_tools=("final_result", "bash"))
AS_TEXT = Profile(results="text")


def codes(scenario: Scenario, agent: Agent, profile: Profile | None = None) -> set[str]:
    played: Run = run(scenario, agent, profile=profile)
    return {f.code for f in played.verdict.findings if not f.code.startswith(("script.", "run."))}


@pytest.mark.parametrize(("scenario", "agent"), [(CITIES, structured()), (SHELL, submits)])
def test_a_turn_may_end_by_a_tool_of_the_profile(scenario: Scenario, agent: Any) -> None:
    assert codes(scenario, agent, BY_TOOL) == set()


def test_a_turn_may_end_by_an_output_tool_whose_input_is_sent() -> None:
    assert codes(CITIES, structured()) == set()


def test_an_output_tool_is_none_if_the_reply_says_something_else() -> None:
    found = codes(CITIES, structured(says="Bergen"))
    assert found == {"truthful_outcome.unfinished", "history_faithful.forgotten_reply"}


def test_an_output_tool_that_the_next_request_forgets_is_still_found() -> None:
    assert "history_faithful.forgotten_reply" in codes(CITIES, structured(forgets=True))


def test_a_tool_of_the_scenario_has_to_run() -> None:
    tools = {"final_result": ToolScript(script=(ToolTurn(ok="Oslo", times="forever"),))}
    scenario = msgspec.structs.replace(CITIES, tools=tools)
    assert "truthful_outcome.unfinished" in codes(scenario, structured())


def test_without_a_profile_a_turn_that_ends_by_the_result_of_a_tool_is_found() -> None:
    assert codes(SHELL, submits) == {"truthful_outcome.unfinished", "no_false_stop.ended"}


def test_a_turn_that_ends_in_another_call_is_still_unfinished() -> None:
    found = codes(NOTES, leaves_in_a_call, BY_TOOL)
    assert {"truthful_outcome.unfinished", "no_false_stop.ended"} <= found


def test_a_turn_that_ends_in_an_ending_call_that_failed_is_unfinished() -> None:
    def agent(brief: Any) -> None:
        try:
            submits(brief)
        except Exception:
            brief.send("Done.", in_reply_to="m1")

    fails = {"bash": ToolScript(script=(ToolTurn(error="no such command", times="forever"),))}
    failing = Scenario(name="fails", tools=fails, inbox=SHELL.inbox, script=SHELL.script)
    assert "truthful_outcome.unfinished" in codes(failing, agent, BY_TOOL)


def test_an_agent_that_forgets_the_call_by_which_its_turn_ended_is_still_found() -> None:
    found = codes(CITIES, structured(forgets=True), BY_TOOL)
    assert "history_faithful.forgotten_reply" in found


def test_results_may_be_text_where_the_profile_says_so() -> None:
    assert codes(NOTES, reacts(), AS_TEXT) == set()
    assert "history_faithful.forgotten_result" in codes(NOTES, reacts())


def test_results_as_text_that_are_cut_short_are_results() -> None:
    assert codes(NOTES, reacts(lambda text: text[:30] + " …"), AS_TEXT) == set()


def test_half_an_emoji_in_a_result_as_text_may_be_replaced() -> None:
    half = {"note": ToolScript(script=(ToolTurn(ok="Ada \ud83d was here", times="forever"),))}
    scenario = msgspec.structs.replace(NOTES, tools=half)
    assert codes(scenario, reacts(clean), AS_TEXT) == set()
    found = codes(scenario, reacts(lambda _: "done"), AS_TEXT)
    assert "history_faithful.forgotten_result" in found


def test_a_result_that_is_left_out_of_the_text_is_still_found() -> None:
    found = codes(NOTES, reacts(lambda _: "done"), AS_TEXT)
    assert {"history_faithful.forgotten_result", "error_visible.reworded"} <= found


def test_a_failure_that_ends_the_turn_is_not_told_by_the_next_message() -> None:
    def agent(brief: Any) -> None:
        chat, [note] = Chat(brief), brief.tools
        for inbound in brief.inbox():
            chat.hear(inbound.text)
            reply = chat.ask()
            try:
                for call in [block for block in reply.content if block.type == "tool_use"]:
                    chat.messages[-1] = {"role": "assistant", "content": "Action: note"}
                    note.call(call.input, id=call.id)
            except ToolError as error:
                brief.send(str(error), kind="error", in_reply_to=inbound.id)
            else:
                brief.send(reply.content[-1].text, in_reply_to=inbound.id)

    full = Scenario(
        name="full",
        tools={"note": ToolScript(script=(FULL,))},
        inbox=NOTES.inbox,
        script=(NOTES.script[0], Turn(say="Welcome.")),
    )
    assert "error_visible.hidden" not in codes(full, agent, AS_TEXT)


def test_the_call_by_which_a_turn_ended_is_its_stored_reply() -> None:
    def stored(**profile: Any) -> set[str]:
        call = use("final_result", {"city": "Oslo"}, id="t1")
        story = Story(stores=False, settings={"profile": profile}).turn("Where?")
        story.row(user("Where?"), labels=["m1"]).reply(call)
        story.row(assistant(call), results(ToolResult("t1", "processed")))
        history = story.say("Oslo").end()
        return {f.code for f in judge(history).findings if f.code.startswith(STORED)}

    lost = {"durable_first.reply", "reload_equivalence.lost_reply", "role_alternation.store"}
    assert stored() == lost
    assert stored(turn_ending_tools=["final_result"]) == set()
