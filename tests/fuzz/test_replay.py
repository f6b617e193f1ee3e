"""A failing example is played again: it still fails, is fixed, or does not apply any more."""

from __future__ import annotations

import re
from random import Random

import msgspec
import pytest
import yaml

from harness.core.values.verdict import Finding
from harness.fuzz import batch
from harness.fuzz.choice_sequence import ChoiceSequence
from harness.fuzz.replay import EXAMPLE, TOOLS, Replayed, ReplayTask, TakenExample, TakenExamples
from harness.fuzz.scenario_grammar import LIMITS, Options, scenario_of

TWICE = "tests.mutants.delivers_twice:agent?client=plain"
RIGHT = "reference?client=plain"
TEXT = """\
name: night
inbox: [{text: hello}]
script: [{say: 'Yes.'}]
"""
FOUND = Finding("outbound_once.twice", "turn 1 ends twice", class_="defect")


def played(
    target: str, text: str = TEXT, found: Finding = FOUND, *, is_shrunk: bool = True
) -> Replayed:
    taken = TakenExample("night", text, found, is_shrunk=is_shrunk)
    result = batch.work(ReplayTask(target=target, number=4, taken=taken))
    assert isinstance(result, Replayed)
    assert (result.number, result.name) == (4, "night")
    return result


def test_an_example_that_still_fails_is_a_finding_of_the_campaign() -> None:
    result = played(TWICE)
    assert (result.state, result.reason) == ("fails", "")
    assert result.shown is not None
    assert (result.shown.code, result.shown.example) == (FOUND.code, EXAMPLE)
    assert (result.shown.turns, result.shown.faults) == (1, 0)
    assert result.shown.name in result.shown.text
    assert result.reach.runs == 1


def test_what_a_corrected_agent_passes_is_fixed() -> None:
    assert played(RIGHT).state == "fixed"


def test_what_was_not_shrunk_is_shrunk() -> None:
    long = TEXT.replace("[{say: 'Yes.'}]", "[{use: ping}, {say: 'A b c'}]\ntools: {ping: {}}")
    result = played(TWICE, long, is_shrunk=False)
    assert result.state == "fails"
    assert result.shown is not None
    assert "ping" not in result.shown.text


def test_another_finding_of_the_example_is_told_as_such() -> None:
    before = msgspec.structs.replace(FOUND, code="outbound_once.missing")
    result = played(TWICE, found=before)
    assert (result.state, result.reason) == ("otherwise", FOUND.code)
    assert result.shown is not None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name: night\nscript: [{say: a}]\nfaults: [{kind: http.of_tomorrow}]\n", "http"),
        ("name: night\nscrip: []\n", "unknown"),
        ("script: [\n", "night"),
        ("name: night\nscript: {cassette: /etc/passwd}\n", "cassette|file"),
        (
            "name: night\nscript: [{say: a}]\nsession: {file: ../x.jsonl, format: jsonl}\n",
            "file",
        ),
        (f"{TEXT}variants: {{b: {{stream: true}}}}\n", "several runs"),
    ],
)
def test_what_this_version_cannot_read_or_no_campaign_wrote_does_not_apply(
    text: str, why: str
) -> None:
    result = played(TWICE, text)
    assert result.state == "stale"
    assert re.search(why, result.reason)


@pytest.mark.parametrize(
    "script",
    [
        "[{use: bash, input: {command: id}, unoffered: true}]",
        "[{blocks: [{type: tool_use, id: a, name: bash, input: {}}], unoffered: true}]",
        "[{say: a}]\ntools: {bash: {}}",
    ],
)
def test_a_call_of_a_tool_that_no_campaign_calls_is_refused(script: str) -> None:
    result = played(TWICE, f"name: night\ninbox: [hello]\nscript: {script}\n")
    assert result.state == "stale"
    assert "'bash'" in result.reason


def test_an_example_cannot_raise_the_limits_of_a_campaign() -> None:
    wide = f"{TEXT}limits: {{turn_calls: {LIMITS.turn_calls * 9}, real_s: 100000}}\n"
    result = played(TWICE, wide)
    assert result.shown is not None
    kept = yaml.safe_load(result.shown.text)["limits"]
    assert kept["turn_calls"] == LIMITS.turn_calls
    assert kept.get("real_s", LIMITS.real_s) == LIMITS.real_s


def test_what_the_reference_agent_shows_too_does_not_apply() -> None:
    impossible = f"{TEXT}expect: {{outcome: failed_truthfully}}\n"
    result = played(TWICE, impossible, Finding("expect.outcome", "completed"))
    assert result.state == "stale"
    assert result.reason == "the reference agent shows expect.outcome too"


def test_every_tool_of_a_generated_scenario_may_be_taken_up() -> None:
    for seed in range(300):
        drawing = ChoiceSequence((), Random(seed))
        scenario = scenario_of(drawing, Options(faults=("*",), children=True))
        assert set(scenario.tools) <= TOOLS
        names = {turn.use for turn in scenario.script if turn.use is not None}
        names |= {str(b["name"]) for t in scenario.script for b in t.blocks if "name" in b}
        assert names <= TOOLS


def test_an_example_that_ends_its_process_is_a_doubt() -> None:
    taken = TakenExample("night", TEXT, FOUND, is_shrunk=True)
    lost = batch.lost(ReplayTask(target=TWICE, number=0, taken=taken))
    assert isinstance(lost, Replayed)
    assert (lost.state, lost.reason) == ("doubtful", "its process ended")


def test_each_example_is_handed_out_once_and_after_a_resume_only_what_is_left() -> None:
    taken = TakenExamples()
    taken.examples = tuple(TakenExample(str(n), TEXT, FOUND) for n in range(3))
    taken.results[1] = Replayed(number=1, name="1", state="fixed")
    handed = [taken.next() for _ in range(3)]
    assert [one and one[0] for one in handed] == [0, 2, None]
    assert taken.counts() == {**dict.fromkeys(taken.counts(), 0), "fixed": 1}
