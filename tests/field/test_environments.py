"""The data of the targets, and the network in which they are played."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import msgspec
import pytest

from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.runner import run
from harness.targets import resolve
from harness.targets.known import known
from tests.field import __main__ as field
from tests.field.environments import (
    CHEAP,
    ROOT,
    Target,
    options_of,
    played,
    profile_of,
    sessions_of,
    targets,
    version_of,
)
from tests.field.loopback import NOT_PERMITTED
from tests.field.playing import draw, in_order, sorted_out

PROBE = """
import socket
print([name for _, name in socket.if_nameindex()])
print(socket.socket().connect_ex(("192.0.2.1", 80)) != 0)
"""


@pytest.mark.parametrize("name", targets())
def test_a_target_is_pinned_and_plays_something_or_says_which_tests_use_it(name: str) -> None:
    target = targets()[name]
    assert all(version_of(name))
    assert target.packages or target.node or target.shares in targets()
    assert target.plays or (ROOT / target.only.rpartition(" ")[2]).is_file()


@pytest.mark.parametrize("name", played())
def test_a_target_that_plays_names_its_agent(name: str) -> None:
    target = targets()[name]
    if target.connected:
        assert f"tests.field.frameworks.{name}:connected" in sessions_of(name)
        assert sessions_of(name)[-2:] == ("--world", target.world)
        return
    assert profile_of(name).wires
    assert all((ROOT / path).exists() for path in target.plays)
    assert not target.program or known()[name].program == target.program
    module = profile_of(name).target.partition(":")[0]
    assert target.program or module == "process" or importlib.util.find_spec(module)


@pytest.mark.source
def test_the_slow_tier_installs_what_its_tests_need_in_ci() -> None:
    lines = (ROOT / "Makefile").read_text("utf-8").splitlines()
    assert f"FIELD_CHEAP := {' '.join(CHEAP)}" in lines
    assert {*CHEAP} <= {*targets()}


def test_every_known_program_is_played() -> None:
    assert {*known()} <= {*targets()}


def test_a_target_that_is_mounted_has_the_package_for_it() -> None:
    for name, target in played().items():
        if not (target.program or target.connected):
            assert ("respx" in target.extras) == ("mount=" in profile_of(name).target), name


def test_a_program_is_named_in_its_environment() -> None:
    assert options_of("codex")[0] == "--target"
    assert options_of("codex")[1].endswith(".field/codex/node_modules/.bin/codex")
    assert options_of("qwen-code-acp")[1].endswith(".field/qwen-code/node_modules/.bin/qwen")
    assert options_of("smolagents") == ("--profile", "tests/field/frameworks/smolagents.toml")


def test_an_environment_that_cannot_be_installed_does_not_hold_back_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = []

    def install(name: str) -> None:
        tried.append(name)
        if name == "openai_agents":
            raise subprocess.CalledProcessError(1, "pip")

    monkeypatch.setattr(field, "install", install)
    words = ["--install", "openai_agents", "openai_agents_chat", "google_adk", "langchain"]
    monkeypatch.setattr(sys, "argv", ["field", *words])
    assert field.main() == 1
    assert sorted(tried) == ["google_adk", "langchain", "openai_agents"]
    assert "openai_agents: not played: Command 'pip'" in capsys.readouterr().err


PLAYABLE = {f"{number}.yaml": [f"{number}", f"{number}+stream"] for number in range(30)}


def test_the_same_seed_draws_one_run_of_each_of_so_many_files() -> None:
    drawn = draw(PLAYABLE, 1, 9)
    assert drawn == draw(PLAYABLE, 1, 9) != draw(PLAYABLE, 2, 9)
    assert len({file for file, _ in drawn}) == 9
    assert all(run in PLAYABLE[file] for file, run in drawn)
    assert len(draw(PLAYABLE, 1, 99)) == 30


def test_runs_are_put_into_the_order_of_the_command() -> None:
    own, moved = (
        "scenarios/field/qwen-code-prefix-changes.yaml",
        "scenarios/field/agno-cut-call-runs.yaml",
    )
    runs = [(moved, "agno-cut-call-runs@openai-chat+stream")]
    runs += [(own, "qwen-code-prefix-changes@openai-chat+stream")]
    assert in_order(runs, "qwen-code") == runs[::-1]
    assert in_order([], "qwen-code") == []


def test_runs_that_a_target_cannot_play_are_counted_by_what_they_need() -> None:
    asked = sorted_out("mini_swe")
    assert [*asked.playable] == ["tests/field/mini-hello.yaml"]
    assert not asked.lacks
    assert asked.count == len(asked.playable["tests/field/mini-hello.yaml"])


def test_a_connected_agent_is_asked_for_all_runs_of_its_api(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = Target("Python", plays=("tests/field/mini-hello.yaml",), connected="openai-chat")
    monkeypatch.setattr("tests.field.playing.targets", lambda: {"langchain": target})
    asked = sorted_out("langchain")
    names = asked.playable["tests/field/mini-hello.yaml"]
    assert all(scenario_wire(name) == "openai-chat" for name in names)
    assert asked.count == len(names) > 0


def scenario_wire(run: str) -> str:
    """The wire that the name of a run says."""
    return run.partition("@")[2].partition("+")[0]


TOOL_RUNNER = resolve("tests.field.frameworks.anthropic_runner:agent")


def test_the_tool_runner_runs_a_call_only_where_its_answer_stopped_for_it() -> None:
    scenario = Scenario(
        name="cut",
        inbox=(InboxItem(text="Order two."),),
        tools={"order": ToolScript(script=(ToolTurn(ok="ordered", times="forever"),))},
        script=(Turn(use="order", stop="max_tokens"), Turn(say="Ordered.", optional=True)),
    )
    assert run(scenario, TOOL_RUNNER).history.trace.executions == []
    whole = msgspec.structs.replace(scenario, script=(Turn(use="order"), Turn(say="Ordered.")))
    assert len(run(whole, TOOL_RUNNER).history.trace.executions) == 1


@pytest.mark.real
@pytest.mark.skipif(sys.platform != "linux", reason="network namespaces are of Linux")
def test_the_network_has_loopback_alone_or_the_command_does_not_start() -> None:
    command = [sys.executable, "-m", "tests.field.loopback", sys.executable, "-c", PROBE]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if made.returncode == NOT_PERMITTED:
        assert made.stdout == ""
        pytest.skip("this machine permits no network namespace to a user")
    assert made.stdout.splitlines() == ["['lo']", "True"]
