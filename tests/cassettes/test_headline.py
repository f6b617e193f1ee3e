"""The recorded incidents: the mutant plays its own recording to the end, no other agent can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from harness.agent import build
from harness.cassettes.cassette_file import read_cassette
from harness.cli.selection import scenarios_of_cassette
from harness.core.scenario.scenario import Scenario
from harness.core.values.brief import Brief
from harness.redaction.masking import kept_headers, mask_url
from harness.redaction.secret_patterns import spans
from harness.runner import Run, run
from tests.record_cassettes import FOLDER, HEADLINES, played, scenarios, shows

_names = pytest.mark.parametrize("name", HEADLINES)


@pytest.fixture(scope="module")
def known() -> dict[str, Scenario]:
    """All runs by name."""
    return scenarios()


def _play(name: str, known: dict[str, Scenario], agent: Callable[..., Any]) -> Run:
    scenario = known[HEADLINES[name].scenario]
    return run(played(scenario, FOLDER / f"{name}.yaml"), agent)


def _codes(found: Run) -> set[str]:
    return {finding.code for finding in found.verdict.findings}


def _reference(brief: Brief) -> None:
    build(brief).run()


@_names
def test_the_mutant_plays_its_recording_to_the_end(name: str, known: dict[str, Scenario]) -> None:
    headline = HEADLINES[name]
    agent = headline.agent()
    assert callable(agent)
    found = _play(name, known, agent)
    assert shows(found, headline.killed_by())
    assert not any(code.startswith("cassette.") for code in _codes(found))
    turns = [e.answered.script_turn for e in found.history.trace.exchanges if e.answered]
    assert turns == list(range(len(read_cassette(FOLDER / f"{name}.yaml"))))


@_names
def test_another_agent_cannot_play_it(name: str, known: dict[str, Scenario]) -> None:
    codes = _codes(_play(name, known, _reference))
    assert codes & {"cassette.miss", "cassette.unplayed"}
    assert "run.unplayed_turn" not in codes


def _alone(name: str) -> Run:
    (made,) = scenarios_of_cassette(FOLDER / f"{name}.yaml", FOLDER / f"{name}.yaml")
    return run(made, HEADLINES[name].agent())  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(HEADLINES.keys() - {"replay-spiral"}))
def test_played_by_itself_it_is_played_to_the_end(name: str) -> None:
    found = _alone(name)
    assert shows(found, HEADLINES[name].killed_by())
    assert not any(code.startswith("cassette.") for code in _codes(found))


def test_what_no_request_shows_cannot_be_played_by_itself() -> None:
    """The store held two messages of the user in a row; the requests had merged them."""
    found = _alone("replay-spiral")
    assert _codes(found) == {"cassette.miss", "cassette.unplayed"}
    assert [item.text for item in found.scenario.inbox][2:] == [
        "Is it a palindrome?", "Spell it backwards.", "Thank you."
    ]  # fmt: skip


def test_a_miss_says_what_differs_and_where(known: dict[str, Scenario]) -> None:
    found = _play("identical-failures", known, _reference)
    (miss,) = [f for f in found.verdict.findings if f.code == "cassette.miss"]
    assert "no recorded exchange matches this request; nearest is #" in miss.message
    assert "messages[" in miss.message
    (answered,) = [a for a in found.history.trace.answers if a.n in miss.events]
    assert answered.error == "cassette.miss"


def test_what_was_not_played_is_one_finding(known: dict[str, Scenario]) -> None:
    found = _play("identical-failures", known, _reference)
    (unplayed,) = [f for f in found.verdict.findings if f.code == "cassette.unplayed"]
    assert "recorded exchanges were never played: exchange #" in unplayed.message
    assert found.history.trace.ended is not None
    assert unplayed.events == (found.history.trace.ended.n,)


@_names
def test_the_file_holds_no_key_and_no_port(name: str) -> None:
    text = (FOLDER / f"{name}.yaml").read_text()
    assert spans(text) == []
    for interaction in yaml.safe_load(text)["interactions"]:
        request, response = interaction["request"], interaction["response"]
        assert request["uri"] == mask_url(request["uri"])
        assert request["uri"].startswith("https://api.anthropic.com/v1/messages")
        for part in (request, response):
            held = {key: values[0] for key, values in part["headers"].items()}
            assert kept_headers(held) == held
