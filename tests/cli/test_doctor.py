"""`harness doctor`: what it prints, what it writes, and agents that it cannot examine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness import providers
from harness.configuration import load_configuration
from harness.core.values.profile import Profile
from harness.files.profile_file import load_profile
from tests.cli.conftest import AGENTS
from tests.cli.talks import Command, Done


@pytest.fixture(autouse=True)
def agents(talks: Path) -> None:
    (talks / "mine_agents.py").write_text(AGENTS)


def rows(done: Done) -> dict[str, Any]:
    lines = [json.loads(line) for line in done.out.splitlines()]
    return {line["item"]: line for line in lines if "item" in line}


def whole(done: Done) -> Any:
    return next(line for line in map(json.loads, done.out.splitlines()) if "wire" in line)


def test_the_table_says_what_was_seen(in_process: Command) -> None:
    done = in_process("doctor", "--target", "mine_agents:good")
    assert done.status == 0
    assert "anthropic                 seen         speaks" in done.out
    assert "store                     seen         keeps its session in brief.store" in done.out
    assert "history                   not seen     the second message's request does" in done.out
    assert "docs/targets.md#the-store" in done.out
    table = done.out.partition("target.crashed in")[0]
    assert max(map(len, table.splitlines())) <= 100


@pytest.mark.real
def test_a_behaviour_has_its_findings(in_process: Command) -> None:
    found = rows(in_process("doctor", "--target", "mine_agents:good", "--json"))
    assert found["deduplication"]["findings"] == ["inbound_exactly_once.twice (defect)"]
    assert found["cancel"]["state"] == "not reached"  # the agent crashes at a call of a tool
    assert found["own_store"]["state"] == "not reached"


def test_a_profile_is_added_to_the_configuration(in_process: Command, talks: Path) -> None:
    before = "# ours\n[tool.harness]\nseed = 3  # kept\n"
    (talks / "pyproject.toml").write_text(before)
    done = in_process("doctor", "--target", "mine_agents:good", "--write", "mine")
    text = (talks / "pyproject.toml").read_text()
    assert text.startswith(before)
    assert "# cancel, not reached: never asks for cancels" in text
    assert done.out.endswith("use it with --profile mine\n")
    profile = load_configuration(talks).profiles["mine"]
    assert profile.target == "mine_agents:good"
    assert profile.capabilities.store is True
    assert profile.capabilities.own_store is None
    assert profile.limits == Profile().limits
    played = in_process("run", "scenarios/greeting.yaml", "--profile", "mine")
    assert played.status in (0, 1)


@pytest.mark.real
def test_a_folder_without_configuration_gets_one(in_process: Command, talks: Path) -> None:
    assert in_process("doctor", "--target", "mine_agents:good", "--write").status == 0
    assert load_configuration(talks).profiles["agent"].stream == "never"


@pytest.mark.real
def test_a_profile_of_this_name_stays_as_it_is(in_process: Command, talks: Path) -> None:
    before = '[profiles.mine]\nwires = ["anthropic"]\n'
    (talks / "harness.toml").write_text(before)
    in_process("doctor", "--target", "mine_agents:good", "--write", "mine")
    assert (talks / "harness.toml").read_text() == before
    assert load_profile(talks / "mine.toml").wires == ("anthropic",)
    again = in_process("doctor", "--target", "mine_agents:good", "--write", "mine")
    assert again.status == 2
    assert "--write mine.toml: the file is there" in again.err


@pytest.mark.real
def test_inline_profiles_are_not_touched(in_process: Command, talks: Path) -> None:
    before = "profiles = {other = {}}\n"
    (talks / "harness.toml").write_text(before)
    in_process("doctor", "--target", "mine_agents:good", "--write", "mine")
    assert (talks / "harness.toml").read_text() == before
    assert load_profile(talks / "mine.toml").target == "mine_agents:good"


@pytest.mark.real
def test_what_is_known_before_is_kept(in_process: Command, talks: Path) -> None:
    known = 'target = "mine_agents:good"\nkeep = true\nfail-on = "defect"\n[limits]\nreal_s = 9\n'
    (talks / "known.toml").write_text(known + "[checks.no_progress_stop]\nrepeats = 9\n")
    in_process("doctor", "--profile", "known.toml", "--write", "new.toml")
    found = load_profile(talks / "new.toml")
    assert (found.keep, found.fail_on, found.limits.real_s) == (True, "defect", 9)
    assert found.checks == {"no_progress_stop": {"repeats": 9}}


def test_an_agent_that_crashes_is_told_with_its_frame(in_process: Command, talks: Path) -> None:
    done = in_process("doctor", "--target", "mine_agents:crashing", "--write", "mine")
    assert done.status == 1
    assert "target.crashed in greeting, greeting@openai-chat, greeting@openai-respo" in done.out
    assert 'in crashing: raise ValueError("the agent\'s own mistake")' in done.out
    assert not (talks / "harness.toml").exists()


def test_an_agent_that_ends_its_process(harness: Any, talks: Path) -> None:
    done = harness("doctor", "--target", "mine_agents:dying", "--json")
    assert done.returncode == 1
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["profile"] is None
    assert {broken["code"] for broken in last["broken"]} == {"target.crashed"}


def test_an_agent_that_calls_no_model(in_process: Command) -> None:
    done = in_process("doctor", "--target", "mine_agents:silent", "--json")
    assert done.status == 1
    assert whole(done)["wire"] == ""


@pytest.mark.parametrize("spec", ["mine_agents:nobody", "no_such_module:agent", "referense"])
def test_a_wrong_target(in_process: Command, spec: str) -> None:
    done = in_process("doctor", "--target", spec)
    assert done.status == 2
    assert spec in done.err
    assert not done.out


@pytest.mark.real
def test_each_probe_is_told_to_a_report(in_process: Command, talks: Path) -> None:
    done = in_process("doctor", "--target", "mine_agents:good", "--junit", "probes.xml")
    assert (done.status, done.out.splitlines()[0]) == (
        0,
        "mine_agents:good: 16 probes on anthropic",
    )
    text = (talks / "probes.xml").read_text()
    suites = {suite.get("name"): suite for suite in ElementTree.fromstring(text)}
    assert len(suites["redelivered"].findall("testcase/failure")) == 1
    greetings = {case.get("name"): case for case in suites["greeting"].findall("testcase")}
    assert len(greetings) == len(providers.names()) + 1
    (skipped,) = greetings["baseline@gemini"].findall("skipped")
    assert "the agent does not speak gemini" in str(skipped.get("message"))
    assert "repeat: harness doctor --target mine_agents:good" in text


@pytest.mark.real
def test_a_policy_that_the_agent_does_not_have_is_not_held_against_it(
    in_process: Command, talks: Path
) -> None:
    words = ("--profile", "chat.toml", "--junit", "probes.xml")
    (talks / "chat.toml").write_text('wires = ["anthropic"]\n')
    done = in_process("doctor", "--target", "reference?inbound=steer", *words)
    assert "reach the model in the turn in which they come: steer" in " ".join(done.out.split())
    suites = ElementTree.fromstring((talks / "probes.xml").read_text())
    asked, again = next(s for s in suites if s.get("name") == "mid-turn").findall("testcase")
    (skipped,) = asked.findall("skipped")
    assert skipped.get("message") == "the agent's policy for messages is steer"
    assert not again.findall("skipped")
    assert not suites.findall("*/testcase/failure")


def test_a_report_names_no_path_of_the_copy(in_process: Command, talks: Path) -> None:
    says = "def says(brief):\n    raise ValueError(__file__)\n"
    (talks / "saying_agents.py").write_text(says)
    words = ("doctor", "--target", "saying_agents:says", "--markdown", "probes.md")
    assert in_process(*words).status == 1
    text = (talks / "probes.md").read_text()
    assert f"ValueError: {talks}/saying_agents.py" in text
    assert "loop-harness-" not in text


@pytest.mark.parametrize("where", ["--github", "--report github", "--report github --in-place"])
@pytest.mark.parametrize("at", ["", "agents"])
def test_an_annotation_is_at_the_line_of_the_crash(
    in_process: Command, talks: Path, monkeypatch: pytest.MonkeyPatch, where: str, at: str
) -> None:
    """The probes play in a copy; the command starts in the repository, or in a folder of it."""
    (talks / at).mkdir(exist_ok=True)
    (talks / at / "falling_agents.py").write_text("def falls(brief):\n    raise KeyError('x')\n")
    monkeypatch.chdir(talks / at)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(talks))
    done = in_process("doctor", "--target", "falling_agents:falls", *where.split())
    place = f"file={Path(at) / 'falling_agents.py'},line=2"
    assert f"::error title=target.crashed%2C 4 probes,{place}::" in done.out + done.err


@pytest.mark.real
def test_a_document_of_the_probes_takes_standard_output(in_process: Command) -> None:
    words = ("doctor", "--target", "mine_agents:good", "--report", "junit", "--write", "mine.toml")
    done = in_process(*words)
    assert ElementTree.fromstring(done.out).get("name") == "harness"
    assert "written: " in done.err


def test_no_target(in_process: Command) -> None:
    assert in_process("doctor").status == 2


WRITES = """
import os, pathlib

def writes(brief):
    pathlib.Path("rows.txt").touch()
    pathlib.Path.home().joinpath("state").touch()
    with open(os.environ["FAR"], "a") as file:
        file.write("x")
    return good(brief)
"""


def test_the_probes_play_in_a_copy_and_what_they_change_outside_is_named(
    in_process: Command, talks: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: Any
) -> None:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("FAR", str(home / "far.log"))
    (talks / "writing_agents.py").write_text(AGENTS + WRITES)
    before = {path for path in talks.rglob("*") if "__pycache__" not in path.parts}
    done = in_process(
        "doctor", "--target", "writing_agents:writes", "--json", "--write", "kept.toml"
    )
    assert (done.status, str(Path.cwd())) == (0, str(talks))
    assert (
        f"{home / 'far.log'} changed, by the agent or by another program" in whole(done)["outside"]
    )
    assert {path for path in talks.rglob("*") if "__pycache__" not in path.parts} - before == {
        talks / "kept.toml"
    }
    assert {path.name for path in home.iterdir()} == {"far.log"}
    assert "loop-harness-" not in (talks / "kept.toml").read_text() + done.out


@pytest.mark.real
def test_in_place_the_probes_play_in_the_folder_itself(
    in_process: Command, talks: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: Any
) -> None:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("FAR", str(home / "far.log"))
    (talks / "far_agents.py").write_text(AGENTS + WRITES)
    done = in_process("doctor", "--target", "far_agents:writes", "--in-place", "--json")
    assert (done.status, whole(done)["outside"]) == (0, [])
    assert (talks / "rows.txt").exists()
    assert (home / "state").exists()
