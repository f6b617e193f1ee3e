"""What drawn texts, calls and moments hold: canaries, other scripts, schemas that are kept."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given

from harness.core.scenario.scenario import Scenario, Turn
from harness.core.values.messages import canonical
from harness.files.mistakes import mistakes_in
from harness.fuzz.choice_sequence import ChoiceSequence
from harness.fuzz.inbox_grammar import HOURS_MS, SECONDS_MS, SESSIONS, at_once
from harness.fuzz.scenario_grammar import scenario_of
from harness.fuzz.script_grammar import TOOLS
from harness.fuzz.text_grammar import CANARY, LARGE_NUMBER, RICH_WORDS, WORDS, canary, marked
from harness.shrink.scenario_size import turns_of
from harness.shrink.script_reductions import blocks_of
from harness.strategies import scenarios

SCENARIOS = [scenario_of(ChoiceSequence((), Random(seed))) for seed in range(400)]


def test_a_canary_follows_from_its_text_and_stands_in_no_other() -> None:
    assert canary("a") == canary("a")
    assert all(CANARY.fullmatch(canary(text)) for text in WORDS)
    for one, other in combinations(RICH_WORDS, 2):
        assert not {*CANARY.findall(one)} & {*CANARY.findall(other)}
    long = marked("word " * 100)
    for part in (long[:20], long[200:320], long[-20:]):
        assert CANARY.search(part)


def _calls(scenario: Scenario) -> Iterator[tuple[str, Any]]:
    for turn in turns_of(scenario):
        yield from _called(turn)
    for message in scenario.session.messages:
        yield from ((b["name"], b["input"]) for b in blocks_of(message) if b["type"] == "tool_use")


def _called(turn: Turn) -> Iterator[tuple[str, Any]]:
    if turn.use is not None:
        yield turn.use, turn.input if isinstance(turn.input, dict) else {}
    yield from ((b["name"], b["input"]) for b in turn.blocks if b["type"] == "tool_use")


@given(scenarios(odd=False, damaged=False))
def test_the_model_keeps_to_the_schema_where_nothing_odd_is_drawn(scenario: Scenario) -> None:
    for name, input in _calls(scenario):
        schema: Any = TOOLS[str(name)]
        assert {*schema.get("required", ())} <= {*input} <= {*schema["properties"]}
        kinds = {"string": str, "integer": int}
        assert all(isinstance(v, kinds[schema["properties"][k]["type"]]) for k, v in input.items())


MOMENTS = {
    "a result of several blocks": lambda s: any(
        isinstance(o.ok, list | tuple) and len(o.ok) > 2 for t in s.tools.values() for o in t.script
    ),
    "more than 1,000 characters": lambda s: any(len(item.text) > 1_000 for item in s.inbox),
    "an error of more than 400 characters": lambda s: any(
        len(o.error or "") > 400 for t in s.tools.values() for o in t.script
    ),
    "TERMINATE in a result": lambda s: "TERMINATE" in canonical(_plain(s.tools)),
    "a number above 2^53": lambda s: str(LARGE_NUMBER) in canonical(_plain(s.script)),
    "an answer of two texts": lambda s: any(
        [b["type"] for b in turn.blocks] == ["text", "text"] for turn in s.script
    ),
    "one id in two sessions": lambda s: any(
        (a.id, a.kind) == (b.id, b.kind) and a.session != b.session
        for a, b in combinations(s.inbox, 2)
    ),
    "names alike": lambda s: (
        len({_cleaned(item.session) for item in s.inbox}) < len({item.session for item in s.inbox})
    ),
    "seconds later": lambda s: any(_ms(item) in range(SECONDS_MS, HOURS_MS) for item in s.inbox),
    "hours later": lambda s: any(_ms(item) >= HOURS_MS for item in s.inbox),
}


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value)


def _ms(item: Any) -> int:
    return int(item.when.get("ms", 0)) if isinstance(item.when, dict) else 0


def _cleaned(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold().replace(" ", "").replace("/", "")


@pytest.mark.parametrize("moment", MOMENTS)
def test_each_moment_comes_three_times_at_least(moment: str) -> None:
    assert sum(map(MOMENTS[moment], SCENARIOS)) >= 3


def test_every_scenario_loads_and_a_program_waits_for_no_hours() -> None:
    for scenario in SCENARIOS:
        assert list(mistakes_in(scenario)) == []
        assert all(_ms(at_once(item)) < SECONDS_MS for item in scenario.inbox)
    assert len({_cleaned(name) for name in SESSIONS}) == 2
