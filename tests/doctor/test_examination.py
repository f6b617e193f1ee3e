"""The doctor says what an agent has and lacks, of agents that lack one thing each."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness import Brief, Scenario
from harness import run as play_one
from harness.core.values.profile import CAPABILITIES, Profile
from harness.doctor import Examination, Observation, Probe, examine
from harness.doctor.probe import SEPARATE_RUNS, example
from harness.runner import Run
from harness.targets.spec import resolve
from tests.doctor.agents import agent_with

ANTHROPIC = Profile(wires=("anthropic",))


def examined(agent: Callable[[Brief], Any] | str, profile: Profile = ANTHROPIC) -> Examination:
    target = resolve(agent) if isinstance(agent, str) else agent

    def play(scenarios: Sequence[Scenario]) -> list[Probe]:
        return [probe_of(play_one(scenario, target)) for scenario in scenarios]

    return examine(profile, play)


def probe_of(run: Run) -> Probe:
    return Probe(run.scenario, run.history.trace, run.verdict, run.connections.used)


def row(found: Examination, item: str) -> Observation:
    return next(one for one in found.observations if one.item == item)


def states(found: Examination) -> dict[str, str]:
    return {one.item: one.state for one in found.observations}


@cache
def whole() -> dict[str, str]:
    """What is seen of the agent that lacks nothing."""
    return states(examined(agent_with()))


def test_the_small_agent_shows_all_but_what_it_cannot_have() -> None:
    unseen = {item for item, state in whole().items() if state != "seen"}
    assert unseen == {
        "parallel tools",
        "own_store",
        "sub_agents",
        "approvals",
        "messages in mid-turn",
    }


def test_tools_in_a_pool_of_threads_are_seen_to_run_at_once() -> None:
    assert states(examined(agent_with(pools=True))) == whole() | {"parallel tools": "seen"}


LACKS: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"streams": False}, {"streaming": "not seen"}),
    ({"history": False}, {"history": "not seen"}),
    ({"deduplicates": False}, {"deduplication": "not seen"}),
    ({"cancels": False}, {"cancel": "not seen", "cancel honoured": "not reached"}),
    ({"redelivers": False}, {"retry of a delivery": "not seen"}),
    ({"session": False}, {"session": "not seen", "store": "not seen"}),
    (
        {"retries": False},
        {"retry of a 529": "not seen", "retry of a broken answer": "not seen"},
    ),
    ({"summarises": ""}, {"compaction": "not seen", "recovery when too long": "not seen"}),
]


@pytest.mark.parametrize(("habits", "changed"), LACKS, ids=lambda value: "-".join(value))
def test_an_agent_that_lacks_one_thing(habits: dict[str, Any], changed: dict[str, str]) -> None:
    found = states(examined(agent_with(**habits)))
    assert {item: state for item, state in found.items() if state != whole()[item]} == changed


def test_a_capability_is_absent_only_where_a_probe_asked_for_it() -> None:
    declared = examined(agent_with(session=False, cancels=False)).profile
    said = {name: declared.declares(name) for name in CAPABILITIES}
    assert said == {
        "session": False,
        "store": False,
        "own_store": None,
        "cancel": False,
        "compaction": True,
        "streaming": True,
        "sub_agents": None,
        "outbox": True,
        "restarts": True,
        "tools": True,
        "approvals": None,
    }


def test_the_request_for_a_summary_becomes_a_pattern() -> None:
    found = examined(agent_with())
    assert found.profile.purposes == {r"^Summarise\s+the\s+conversation\s+so\s+far,": "compact"}
    assert row(found, "compaction").state == "seen"


def test_a_summary_that_is_recognised_needs_no_pattern() -> None:
    found = examined("reference", ANTHROPIC)
    assert found.profile.purposes == {}
    assert found.profile.capabilities.compaction is True


def test_a_tool_that_ends_the_turn() -> None:
    found = examined(agent_with(ends_by="final_answer"))
    assert found.profile.turn_ending_tools == ("final_answer",)
    assert row(found, "end of a turn").what == "by the tool final_answer"
    assert row(found, "history").state == "seen"


def test_a_tool_of_the_scenario_that_ends_the_turn() -> None:
    found = examined(agent_with(ends_after="lookup"))
    assert "lookup" in found.profile.turn_ending_tools


def test_an_agent_that_runs_no_tool_ends_by_none() -> None:
    def deaf(brief: Brief) -> None:
        client = brief.anthropic()
        for inbound in brief.inbox():
            asked: Any = [{"role": "user", "content": inbound.text}]
            client.messages.create(model="m", max_tokens=99, messages=asked)
            brief.send("Done.", in_reply_to=inbound.id)

    found = examined(deaf)
    assert found.profile.turn_ending_tools == ()
    assert row(found, "end of a turn").what == "by an answer in words"


def test_results_as_text() -> None:
    assert examined(agent_with(results_as_text=True)).profile.results == "text"
    assert examined(agent_with()).profile.results == "blocks"


def test_a_prefix_and_a_renaming_of_tools() -> None:
    prefixed = examined(agent_with(prefix="mcp__field__")).profile
    assert (prefixed.tool_prefix, prefixed.tool_names) == ("mcp__field__", {})
    renamed = examined(agent_with(renamed="shell")).profile
    assert (renamed.tool_prefix, renamed.tool_names) == ("", {"bash": "shell"})


def test_a_behaviour_has_the_findings_of_its_run() -> None:
    found = row(examined(agent_with(deduplicates=False)), "deduplication")
    assert found.findings == ("inbound_exactly_once.twice (defect)",)


def test_the_reference_agent_speaks_all_wires_and_starts_sub_agents() -> None:
    found = examined("reference?spawn=true", Profile())
    assert found.profile.wires == ("anthropic", "openai-chat", "openai-responses", "gemini")
    assert found.profile.stream == "either"
    assert found.profile.capabilities.sub_agents is True
    behaviour = {one.state for one in found.observations if one.part == "behaviour"}
    assert behaviour == {"seen"}


def test_an_agent_that_asks_no_model() -> None:
    def silent(brief: Brief) -> None:
        for inbound in brief.inbox():
            brief.send("I asked nobody.", in_reply_to=inbound.id)

    found = examined(silent)
    assert (found.wire, states(found)) == ("", {"anthropic": "not seen"})
    assert found.profile == ANTHROPIC


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"a": 1}),
        ({"properties": {"a": {"enum": ["x", "y"]}}}, {"a": "x"}),
        ({"anyOf": [{"type": "array"}, {"type": "null"}]}, []),
        ({"type": ["boolean", "null"]}, True),
        ({"const": 3}, 3),
        ({}, "It is mild in Oslo."),
    ],
)
def test_an_input_that_a_schema_allows(schema: dict[str, Any], value: Any) -> None:
    assert example(schema) == value


def test_a_session_that_outlasts_its_run_is_said(tmp_path: Path) -> None:
    def agent(folder: Callable[[Brief], Path]) -> Callable[[Brief], None]:
        def play(brief: Brief) -> None:
            kept = folder(brief) / "session.json"
            rows = json.loads(kept.read_text()) if kept.exists() else []
            for inbound in brief.inbox():
                rows.append({"role": "user", "content": inbound.text})
                kept.write_text(json.dumps(rows))
                client = brief.anthropic(max_retries=0)
                reply = client.messages.create(model="any", max_tokens=99, messages=rows)
                brief.send(str(reply.stop_reason), in_reply_to=inbound.id)

        return play

    mixed = row(examined(agent(lambda brief: tmp_path)), SEPARATE_RUNS)
    assert (mixed.state, mixed.see) == ("not seen", "docs/targets.md#a-session-file")
    apart = examined(agent(lambda brief: Path(brief.session_dir)))
    assert row(apart, SEPARATE_RUNS).state == "seen"
