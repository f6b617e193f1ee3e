"""The catalogue: scenarios by class, short, told, sourced, and no two alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec import UNSET

from harness.catalogue import INCIDENTS
from harness.core.scenario.scenario import Scenario
from harness.core.scenario.script import model_reply
from harness.core.values.draws import Draws
from harness.core.values.messages import ToolSpec, ToolUse
from harness.doctor.probe import FOLDER as PROBES
from harness.files import find_scenarios
from harness.runner.session_seed import seed_messages
from harness.runner.tool_offers import misfit
from tests.scenarios.all_runs import SCENARIOS, all_runs, runs_of

SEEDS = {"context", "gateway", "tools"}
"""The folders of the two systems whose failures started this; theirs may be longer."""

FIELD = {"field"}
"""The folder of findings on agents that people run, which tests/catalogue holds to their files."""

FOLDERS = {row.kind for row in INCIDENTS.values()} | {"combinations"}
LINES_MAX = 44
OF_SEEDS = ("seed:",)


def files() -> Iterator[Path]:
    """The scenario files that are made after public incidents or combinations of faults."""
    for path in find_scenarios([SCENARIOS]):
        sources = runs_of(path)[0].source
        is_old = any(source.startswith(OF_SEEDS) for source in sources)
        if path.parent.name in FOLDERS and not is_old:
            yield path


def test_every_folder_is_a_class() -> None:
    folders = {path.parent.name for path in find_scenarios([SCENARIOS])}
    assert folders <= FOLDERS | SEEDS | FIELD
    assert folders >= FOLDERS


def test_there_are_enough() -> None:
    assert len(find_scenarios([SCENARIOS])) >= 120


@pytest.mark.parametrize("path", list(files()), ids=lambda path: path.stem)
def test_a_scenario_is_short_told_and_sourced(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= LINES_MAX
    scenario = runs_of(path)[0]
    assert scenario.title
    assert len(scenario.story.split()) >= 10
    assert any(source.startswith(("incidents:", "fault:")) for source in scenario.source)
    expect = scenario.expect
    assert expect.outcome or expect.calls.model or expect.must


@pytest.mark.parametrize("path", find_scenarios([SCENARIOS, PROBES]), ids=lambda path: path.stem)
def test_a_call_fits_the_offer_or_says_that_it_does_not(path: Path) -> None:
    """With `task` an agent starts others, by `final_answer` it ends a turn: these are its own."""
    for scenario in runs_of(path):
        offer = [ToolSpec(name, "", tool.input_schema) for name, tool in scenario.tools.items()]
        turns = scenario.script if isinstance(scenario.script, tuple) else ()
        for turn in turns:
            uses = [b for b in model_reply(turn, Draws(0), "").blocks if isinstance(b, ToolUse)]
            found = [misfit(use, offer) for use in uses if use.name not in ("task", "final_answer")]
            assert turn.unoffered == any(found), (scenario.run_name, found)


def played(scenario: Scenario) -> bytes:
    """What a run of the scenario is made of: session, tools, inbox, script, faults and window."""
    parts = ("session", "tools", "inbox", "script", "faults", "window_tokens", "wire", "stream")
    values = {part: getattr(scenario, part) for part in parts}
    return msgspec.json.encode([values, scenario.dialect, scenario.limits], order="deterministic")


def test_no_two_runs_are_alike() -> None:
    seen: dict[bytes, str] = {}
    alike = []
    for scenario in all_runs():
        other = seen.setdefault(played(scenario), scenario.run_name)
        if other != scenario.run_name:
            alike.append((other, scenario.run_name))
    assert alike == []


@pytest.mark.parametrize("path", find_scenarios([SCENARIOS]), ids=lambda path: path.stem)
def test_what_heals_is_hurt_and_used_again(path: Path) -> None:
    """Without that the check is not asked, and the run of an agent without a store is in doubt."""
    for scenario in runs_of(path):
        if "session_heals" in scenario.expect.must:
            assert has_a_fault(scenario), scenario.run_name
            assert len(scenario.inbox) > 1 or seed_messages(scenario), scenario.run_name


def has_a_fault(scenario: Scenario) -> bool:
    turns = [turn for tool in scenario.tools.values() for turn in tool.script]
    fails = any(turn.ok is UNSET or turn.hang for turn in turns)
    taken_back = any(item.kind != "message" for item in scenario.inbox)
    return bool(scenario.faults or fails or taken_back or seed_messages(scenario))
