"""All of a scenario is cut: entries, keys, numbers, texts. Names are not."""

from __future__ import annotations

import msgspec

from harness.core.scenario.scenario import (
    Expect,
    FaultSpec,
    InboxItem,
    Limits,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.values.profile import Profile
from harness.shrink import shrink
from harness.shrink.field_reductions import earlier, entries, entries_of, numbers, texts
from tests.shrink.drive import candidates, last

FULL = Scenario(
    name="full",
    title="A title",
    source=("seed:H1",),
    wire="openai-chat",
    dialect="strict",
    stream=True,
    window_tokens=900,
    seed=7,
    tools={"look": ToolScript(description="Look it up", script=(ToolTurn(ok="found", hang=8.0),))},
    inbox=(InboxItem(id="m1", text="What is it all about?", session="side"),),
    script=(Turn(use="look", input={"a": 1, "b": {"c": "two words"}}, stop="max_tokens"),),
    faults=(FaultSpec(kind="http.status", often=9, settings={"status": 503}),),
    limits=Limits(model_calls=400),
    checks={"no_progress_stop": {"repeats": 3}},
    purposes={"summary": "compact"},
    expect=Expect(outcome="completed"),
)


def test_every_key_goes_that_may() -> None:
    """What is left has its defaults, except the keys that a file, its parts and its run need."""
    found = last(entries(FULL), lambda s: bool(s.script and s.inbox and s.tools and s.faults))
    assert found == Scenario(
        name="full",
        wire="openai-chat",
        stream=True,
        inbox=(InboxItem(),),
        tools={"look": ToolScript()},
        script=(Turn(),),
        faults=(FaultSpec(kind="http.status"),),
    )


def test_no_candidate_is_outside_the_format() -> None:
    for candidate in candidates(entries(FULL)):
        assert msgspec.convert(msgspec.to_builtins(candidate), type=Scenario) == candidate


def test_entries_of_one_key() -> None:
    assert [s.faults for s in candidates(entries_of("faults")(FULL))] == [()]
    assert [s.inbox for s in candidates(entries_of("inbox")(FULL))] == [()]
    assert candidates(entries_of("faults")(Scenario(name="none"))) == []


def test_numbers_fall_where_low_is_simple() -> None:
    found = last(numbers(FULL), lambda s: True)
    assert found is not None
    assert found.faults[0].often == 1
    assert found.tools["look"].script[0].hang == 1
    assert found.faults[0].settings == {"status": 503}
    assert (found.window_tokens, found.limits) == (900, FULL.limits)


def test_texts_become_a_word_and_names_stay() -> None:
    found = last(texts(FULL), lambda s: True)
    assert found is not None
    assert found.inbox[0] == InboxItem(id="m1", text="What", session="side")
    assert found.tools["look"].description == "Look"
    assert found.script[0].input == {"a": 1, "b": {"c": "two"}}
    assert (found.faults[0].kind, found.title) == ("http.status", "A title")


def test_the_type_of_a_block_stays() -> None:
    block = {"type": "tool_use", "name": "look", "input": {"a": 1}, "id": "t1"}
    one = Scenario(name="one", inbox=FULL.inbox, script=(Turn(blocks=(block,)),))
    found = shrink(one, lambda s: '"tool_use"' in msgspec.json.encode(s).decode()).scenario
    assert found.script[0].blocks == ({"type": "tool_use", "name": "look"},)


def test_the_profile_of_the_agent_is_not_cut() -> None:
    mine = Profile(wires=("openai-chat",), checks={"no_progress_stop": {"repeats": 5}})
    small = shrink(msgspec.structs.replace(FULL, profile=mine), lambda _: True).scenario
    assert small.profile == mine
    assert small.tools == {}


def test_a_message_comes_as_early_as_it_can() -> None:
    late = InboxItem(text="And Bob.", when={"after": "side/tool#3"})
    scenario = Scenario(name="late", inbox=(InboxItem(text="Find Ada."), late))
    moments = [s.inbox[1].when for s in candidates(earlier(scenario))]
    keys = [f"{seam}#{n}" for n in (1, 2, 3) for seam in ("model", "tool")]
    assert moments == [{"after": key} for key in keys]
    found = shrink(scenario, lambda s: len(s.inbox) == 2 and "after" in s.inbox[1].when)
    assert found.scenario.inbox[1].when == {"after": "model#1"}
