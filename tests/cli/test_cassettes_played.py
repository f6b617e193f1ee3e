"""Cassettes given to `run`: what a user types, and what comes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cassettes.recorded import ASK, cassette, interaction
from tests.cassettes.test_headline import FOLDER
from tests.cli.conftest import Harness
from tests.cli.talks import REFERENCE


@pytest.fixture
def mutant(folder: Path) -> str:
    """The agent that was recorded, as a target that the command line can import."""
    root = str(FOLDER.parent)
    text = f"import sys\nsys.path.insert(0, {root!r})\n"
    text += "from tests.mutants.no_breaker import agent as agent\n"
    (folder / "recorded_with.py").write_text(text)
    return "recorded_with:agent"


@pytest.mark.real
def test_a_cassette_is_played_to_the_agent_that_it_was_recorded_with(
    harness: Harness, folder: Path, mutant: str
) -> None:
    name = "identical-failures.yaml"
    (folder / name).write_bytes((FOLDER / name).read_bytes())
    done = harness("run", name, "--target", mutant, "--json")
    codes = {finding["code"] for finding in json.loads(done.stdout)["findings"]}
    assert codes == {"no_progress_stop.same_call", "no_progress_stop.same_failure"}


@pytest.mark.real
def test_another_agent_is_told_where_it_left_the_recording(harness: Harness) -> None:
    path = FOLDER / "identical-failures.yaml"
    done = harness("run", str(path), "--target", REFERENCE, "--json")
    row = json.loads(done.stdout)
    (miss,) = [f for f in row["findings"] if f["code"] == "cassette.miss"]
    for words in ("nearest is #3: messages[4].content[0]", "then #4: ", "played so far: #1-#2 of"):
        assert words in miss["message"]
    assert done.returncode == 1


def test_a_folder_of_cassettes_is_played_one_beside_scenarios_is_not(
    harness: Harness, folder: Path
) -> None:
    inside = folder / "recorded" / "deep"
    inside.mkdir(parents=True)
    chat = interaction(
        {"model": "m", "messages": ASK["messages"]}, uri="https://x/chat/completions"
    )
    (inside / "One.yaml").write_bytes(cassette(interaction(), chat))
    (inside / "notes.json").write_text("{}")
    done = harness("run", "recorded", "--dry-run")
    assert done.stdout.splitlines()[:2] == ["deep-one", "deep-one@openai-chat"]
    (folder / "scenarios" / "cassette.yaml").write_bytes(cassette(interaction()))
    names = harness("run", "scenarios", "--dry-run").stdout
    assert "cassette" not in names
    assert "greeting" in names


def test_a_cassette_without_calls_to_a_model_is_an_error(harness: Harness, folder: Path) -> None:
    (folder / "x.yaml").write_bytes(cassette(interaction(uri="https://example.com/weather")))
    done = harness("run", "x.yaml", "--target", REFERENCE)
    assert done.returncode == 2
    assert "x.yaml: no exchange of the cassette is a call to a model" in done.stderr


@pytest.mark.real
def test_a_fault_lies_over_a_cassette(harness: Harness, folder: Path, mutant: str) -> None:
    (folder / "faults.yaml").write_text("faults: [{kind: http.status, status: 529}]\n")
    path = FOLDER / "identical-failures.yaml"
    done = harness("run", str(path), "--target", mutant, "--faults", "faults.yaml", "--dry-run")
    assert "main/model#1  http.status" in done.stdout
    done = harness("run", str(path), "--target", mutant, "--faults", "faults.yaml", "--json")
    codes = {finding["code"] for finding in json.loads(done.stdout)["findings"]}
    assert not any(code.startswith("cassette.") for code in codes)
