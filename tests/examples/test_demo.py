"""`make demo`: a story of a screen, and a failure when the story is not true."""

from __future__ import annotations

import os

import pytest

from examples import demo
from harness import load_scenarios
from tests import mutants

GOOD = demo.Passed("greeting", True, 3, 1)
KNOWN = {s.run_name: s for f in ("loops/identical-failures", "gateway/replay-spiral",
         "loops/empty-inputs") for s in load_scenarios(demo.ROOT / f"scenarios/{f}.yaml")}  # fmt: skip


@pytest.fixture
def caught(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = ((name, m) for name, m, _ in mutants.every() if name in demo.TOLD)
    return [demo.play_mutant(name, KNOWN[mutant.scenario]) for name, mutant in told]


def told(monkeypatch, capsys, passed, caught):
    monkeypatch.setattr(demo, "play_all", lambda: (passed, caught))
    status = demo.main()
    return status, capsys.readouterr().out


def test_the_story_of_three_incidents_fits_into_a_screen(monkeypatch, capsys, caught):
    status, text = told(monkeypatch, capsys, [GOOD], caught)
    assert status == 0
    lines = text.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    for each in caught:
        assert f"finding:  {each.code}: " in text
        assert each.proof.partition(":")[0] in text
        assert f"report:   .venv/bin/harness show {each.history}\n" in text
        assert os.path.exists(each.history)
    assert "1 of 1 runs pass: 3 calls of the model, 1 of tools." in text
    assert "3 of 3 wrong agents are caught" in text


def test_a_run_of_the_reference_agent_that_fails_is_named(monkeypatch, capsys, caught):
    status, text = told(monkeypatch, capsys, [GOOD._replace(passed=False)], caught)
    assert status == 1
    assert "FAILS greeting" in text


def test_a_mutant_that_survives_is_named(monkeypatch, capsys, caught):
    alive = [caught[0]._replace(code="", message="", proof=""), *caught[1:]]
    status, text = told(monkeypatch, capsys, [GOOD], alive)
    assert status == 1
    assert f"SURVIVES {alive[0].name} on {alive[0].scenario}" in text
    assert "2 of 3 wrong agents are caught" in text


def test_the_reference_agent_is_judged():
    passed = demo.play_reference([KNOWN["identical-failures"]])
    assert [p.passed for p in passed] == [True]
    assert passed[0].model
    assert passed[0].tool


def test_every_scenario_and_every_mutant_is_played():
    works = list(demo.works())
    names = {work.args[0] for work in works if work.func is demo.play_mutant}
    assert names == {name for name, _, _ in mutants.every()}
    played = {s.name for w in works if w.func is demo.play_reference for s in w.args[0]}
    files = demo.find_scenarios([demo.ROOT / "scenarios"])
    assert played == {load_scenarios(file)[0].name for file in files}
