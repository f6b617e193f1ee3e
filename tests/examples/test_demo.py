"""`make demo`: a story of a screen, and a failure when the story is not true."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from examples import demo
from harness import load_scenarios
from tests import mutants

FILES = ("loops/identical-failures", "gateway/replay-spiral", "loops/empty-inputs")
KNOWN = {
    scenario.run_name: scenario
    for file in FILES
    for scenario in load_scenarios(demo.ROOT / f"scenarios/{file}.yaml")
}


WRITE_PAGE = demo.write_page

MADE_UP = [
    demo.Caught(name, "a", "a.b", "bad", "event 7: end", f".harness/demo/{name}")
    for name in demo.TOLD
]


@pytest.fixture(scope="module")
def caught(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[demo.Caught]]:
    """The wrong agents that are told, each on its scenario, in a folder of their own."""
    told = ((name, m) for name, m, _ in mutants.every() if name in demo.TOLD)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("demo"))
        yield [demo.play_mutant(name, KNOWN[mutant.scenario]) for name, mutant in told]


@pytest.fixture
def told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[bool, list[demo.Caught]], tuple[int, str]]:
    """The exit status and the text of these runs."""

    def tell(passes: bool, caught: list[demo.Caught]) -> tuple[int, str]:
        passed = [demo.Passed("greeting", passes, 3, 1)]
        monkeypatch.setattr(demo, "play_all", lambda: (passed, caught))
        monkeypatch.setattr(demo, "write_page", lambda: None)
        return demo.main(), capsys.readouterr().out

    return tell


@pytest.mark.real
def test_the_story_of_three_incidents_fits_into_a_screen(
    told: Any, caught: list[demo.Caught]
) -> None:
    status, text = told(True, caught)
    assert status == 0
    lines = text.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    for each in caught:
        assert f"finding:  {each.code}: " in text
        assert each.proof.partition(":")[0] in text
        assert f"report:   .venv/bin/harness show {each.history}\n" in text
        assert os.path.exists(each.history)
    WRITE_PAGE()
    page = demo.PAGE.read_text("utf-8")
    assert all(each.scenario in page for each in caught)
    assert f"for a browser: {demo.PAGE}\n" in text
    assert "1 of 1 runs pass: 3 calls of the model, 1 of tools." in text
    assert "3 of 3 wrong agents are caught" in text


def test_a_run_of_the_reference_agent_that_fails_is_named(told: Any) -> None:
    status, text = told(False, MADE_UP)
    assert status == 1
    assert "FAILS greeting" in text


def test_a_mutant_that_survives_is_named(told: Any) -> None:
    alive = [MADE_UP[0]._replace(code="", message="", proof=""), *MADE_UP[1:]]
    status, text = told(True, alive)
    assert status == 1
    assert f"SURVIVES {alive[0].name} on {alive[0].scenario}" in text
    assert "2 of 3 wrong agents are caught" in text


@pytest.mark.real
def test_the_reference_agent_is_judged() -> None:
    passed = demo.play_reference([KNOWN["identical-failures"]])
    assert [p.passed for p in passed] == [True]
    assert passed[0].model
    assert passed[0].tool


@pytest.mark.real
def test_every_scenario_and_every_mutant_is_played() -> None:
    works = list(demo.works())
    names = {work.args[0] for work in works if work.func is demo.play_mutant}
    assert names == {name for name, _, _ in mutants.every()}
    played = {s.name for w in works if w.func is demo.play_reference for s in w.args[0]}
    files = demo.find_scenarios([demo.ROOT / "scenarios"])
    assert played == {load_scenarios(file)[0].name for file in files}
