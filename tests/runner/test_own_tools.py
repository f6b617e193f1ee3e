"""An agent with its own tools: whose tool a scripted call meets, and with which input."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.scenario.scenario import (
    Bounds,
    Expect,
    ExpectCalls,
    InboxItem,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.transition.bound_tools import drawn
from harness.core.values.messages import ToolSpec, ToolUse
from harness.core.values.profile import Profile
from harness.runner import run
from harness.runner.capability_ledger import settled
from harness.runner.tool_offers import misfit

FIND = {
    "name": "find_article",
    "input_schema": {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "most": {"type": "integer", "minimum": 1, "maximum": 20},
        },
        "required": ["query", "most"],
        "additionalProperties": False,
    },
}
PAY = {
    "name": "pay",
    "input_schema": {
        "type": "object",
        "properties": {"amount": {"type": "integer"}},
        "required": ["amount"],
    },
}
SEARCH = ToolScript(
    input_schema={"type": "object", "properties": {"text": {"type": "string"}}},
    script=(ToolTurn(ok="found", times="forever"),),
)
SAFE = Profile(safe_tools=("find_article",))


def asked(
    profile: Profile, tool: ToolScript = SEARCH, *turns: Turn, most: int = 99, **fields: Any
) -> Any:
    """The calls of the agent's own tools in a run, and its settled verdict. After `most` calls in
    a turn the agent offers no tools."""
    made: list[tuple[str, Any]] = []

    def agent(brief: Any) -> None:
        client = brief.anthropic()
        for message in brief.inbox():
            rows: list[Any] = [{"role": "user", "content": message.text}]
            begun = len(made)
            while True:
                choice = {"type": "none" if len(made) - begun >= most else "auto"}
                reply = client.messages.create(
                    model="m", max_tokens=99, messages=rows, tools=[FIND, PAY],
                    tool_choice=choice,  # type: ignore[call-overload]
                )  # fmt: skip
                calls = [block for block in reply.content if block.type == "tool_use"]
                if not calls:
                    break
                made.extend((call.name, call.input) for call in calls)
                results = [
                    {"type": "tool_result", "tool_use_id": c.id, "content": "two articles"}
                    for c in calls
                ]
                rows += [{"role": "assistant", "content": reply.content}]
                rows += [{"role": "user", "content": results}]
            brief.send(reply.content[0].text, in_reply_to=message.id)

    scenario = Scenario(
        name="looks-up", tools={"search": tool}, inbox=(InboxItem(text="Which ones are there?"),),
        script=turns or (Turn(use="search", input={"text": "boats"}), Turn(say="Two are there.")),
        profile=profile,
        **{"expect": Expect(calls=ExpectCalls(tool={"search": Bounds(min=1, max=1)})), **fields},
    )  # fmt: skip
    (ran,) = settled([run(scenario, agent)])
    return made, ran.verdict


def test_a_safe_tool_gets_an_input_that_fits_its_schema() -> None:
    made, verdict = asked(SAFE)
    (name, given), offer = made[0], [ToolSpec("find_article", "", FIND["input_schema"])]
    assert (name, misfit(ToolUse("", name, given), offer)) == ("find_article", "")
    assert verdict.verdict == "pass"


def test_equal_calls_of_a_script_draw_equal_inputs_and_others_do_not() -> None:
    calls = [Turn(use="search", input={"text": text}) for text in ("boats", "boats", "inns")]
    made, _ = asked(SAFE, SEARCH, *calls, Turn(say="Two are there."))
    assert made[0] == made[1] != made[2]


@pytest.mark.parametrize("own", ["find_article", "pay"])
def test_a_tool_that_may_act_gets_no_invented_input(own: str) -> None:
    made, verdict = asked(Profile(tool_names={"search": own}))
    assert (made, verdict.verdict) == ([], "not_applicable")
    assert verdict.not_applicable[0].reason.startswith("needs tools: a call meets no tool")


def test_a_named_tool_gets_the_input_of_the_script_where_it_fits() -> None:
    given = {"query": "boats", "most": 2}
    call = Turn(use="search", input=given)
    made, verdict = asked(
        Profile(tool_names={"search": "find_article"}), SEARCH, call, Turn(say="Two are there.")
    )
    assert (made, verdict.verdict) == ([("find_article", given)], "pass")


def test_an_unoffered_call_never_meets_an_own_tool() -> None:
    call = Turn(use="search", input="", unoffered=True)
    made, verdict = asked(SAFE, SEARCH, call, Turn(say="Two are there."))
    assert (made, verdict.verdict) == ([], "not_applicable")


@pytest.mark.parametrize("turn", [ToolTurn(error="no such text"), ToolTurn(effect="sent", ok="ok")])
def test_a_scenario_that_rests_on_its_tools_is_not_asked(turn: ToolTurn) -> None:
    _, verdict = asked(SAFE, ToolScript(input_schema=SEARCH.input_schema, script=(turn,)))
    assert verdict.not_applicable[0].reason.endswith("rests on what its own tools say")


@pytest.mark.parametrize(("calls", "code"), [(3, None), (2, "no_false_stop.withdrawn")])
def test_equal_results_of_an_own_tool_are_a_reason_to_stop(calls: int, code: str | None) -> None:
    turns = [Turn(use="search", input={"text": "boats"}, times=calls)]
    _, verdict = asked(SAFE, SEARCH, *turns, Turn(say="Two."), most=calls, expect=Expect())
    assert [finding.code for finding in verdict.failing] == ([code] if code else [])


def test_a_scenario_that_needs_a_failure_of_its_tools_is_not_asked() -> None:
    _, verdict = asked(SAFE, expect=Expect(must=("session_heals",)))
    assert verdict.verdict == "not_applicable"
    assert verdict.not_applicable[0].reason.endswith("rests on what its own tools say")


SCHEMAS = st.recursive(
    st.sampled_from(
        [{"type": "string"}, {"type": "integer", "minimum": -5, "maximum": 3}, {"type": "null"},
         {"type": "number"}, {"type": "boolean"}, {"enum": ["low", "high"]}, {"const": 7}]
    ),
    lambda inner: st.one_of(
        st.builds(lambda i: {"type": "array", "items": i, "minItems": 2}, inner),
        st.builds(lambda a, b: {"anyOf": [a, b]}, inner, inner),
        st.dictionaries(st.sampled_from("abc"), inner).map(
            lambda p: {"type": "object", "properties": p, "required": sorted(p)}
        ),
    ),
    max_leaves=6,
)  # fmt: skip


@given(SCHEMAS, st.integers(0, 99))
def test_what_is_drawn_for_a_schema_fits_it(schema: dict[str, Any], seed: int) -> None:
    whole = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    use = ToolUse("", "t", drawn(whole, random.Random(seed)))
    assert misfit(use, [ToolSpec("t", "", whole)]) == ""
