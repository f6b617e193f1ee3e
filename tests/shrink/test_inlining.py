"""What a scenario only names is written out: a recording as turns, a session file as messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.core.scenario.scenario import CassetteScript, Scenario, Session, Turn
from harness.core.values.errors import InputError
from harness.files import load_scenarios
from harness.files.scenario_text import scenario_yaml
from harness.runner.session_seed import seed_messages
from harness.shrink.inlining import inlined

ROOT = Path(__file__).parents[2]


def test_a_recording_becomes_the_turns_of_its_model() -> None:
    script = CassetteScript(cassette=str(ROOT / "cassettes/identical-failures.yaml"))
    turns = inlined(Scenario(name="tape", script=script)).script
    assert isinstance(turns, tuple)
    calls = [block for turn in turns for block in turn.blocks if block["type"] == "tool_use"]
    assert len(calls) > 20
    assert {call["name"] for call in calls} == {"memory"}
    assert {turn.stop for turn in turns} == {None}


def test_a_session_file_becomes_messages(tmp_path: Path) -> None:
    line = '{"role":"user","blocks":[{"type":"text","text":"Hello"}]}\n'
    (tmp_path / "past.jsonl").write_text(line, "utf-8")
    named = Scenario(name="past", session=Session(file="past.jsonl"), folder=str(tmp_path))
    written = inlined(named)
    assert written.session.file is None
    assert seed_messages(written) == seed_messages(named)
    (tmp_path / "past.yaml").write_text(scenario_yaml(written), "utf-8")
    assert load_scenarios(tmp_path / "past.yaml")[0].session == written.session


def test_what_names_nothing_stays() -> None:
    scenario = Scenario(name="plain", script=(Turn(say="x"),))
    assert inlined(scenario) is scenario


def test_a_file_that_is_not_there_is_an_error() -> None:
    with pytest.raises(InputError, match="nowhere"):
        inlined(Scenario(name="tape", script=CassetteScript(cassette="nowhere.yaml")))
