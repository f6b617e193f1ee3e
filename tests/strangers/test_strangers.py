"""The data of the frameworks, and the report over their runs."""

from __future__ import annotations

from typing import Any

import msgspec

from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.files.profile_file import load_profile
from harness.runner import run
from harness.targets import resolve
from tests.strangers.environments import HERE, ROOT, frameworks
from tests.strangers.groups import causes, draw, groups, is_unplayed, row, worst_class


def _run(name: str, verdict: str = "fail", *findings: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "verdict": verdict, "findings": [*findings]}


TOOL_RUNNER = resolve("tests.strangers.frameworks.anthropic_runner:agent")
DEFECT = {"code": "args_complete.truncated", "class": "defect"}
UNCLASSED = {"code": "expect.outcome", "class": ""}
FOLLOWS = {"code": "expect.outcome", "class": None, "follows": "args_complete.truncated"}
ADVICE = {"code": "role_alternation.wire", "class": "advice"}
LACKS = {"not_applicable": [{"missing": "store", "reason": "needs store", "runs": 3}]}


def test_each_framework_has_a_profile_an_adapter_and_something_to_play() -> None:
    for name, framework in frameworks().items():
        profile = load_profile(HERE / "frameworks" / f"{name}.toml")
        assert profile.target
        assert profile.wires
        assert all((ROOT / path).exists() for path in framework.plays)
        assert framework.packages or framework.node or framework.shares in frameworks()


def test_a_target_that_is_mounted_has_the_package_for_it() -> None:
    for name, framework in frameworks().items():
        is_mounted = "mount=" in load_profile(HERE / "frameworks" / f"{name}.toml").target
        assert ("respx" in framework.extras) == is_mounted, name


def test_a_framework_without_an_applicable_run_was_not_played() -> None:
    assert is_unplayed([_run("a", "not_applicable"), LACKS])
    assert not is_unplayed([_run("a", "not_applicable"), _run("b", "pass"), LACKS])


def test_runs_are_grouped_by_the_causes_of_their_failure() -> None:
    runs = [
        _run("a", "fail", DEFECT, FOLLOWS, ADVICE),
        _run("b", "fail", DEFECT),
        _run("c", "pass"),
    ]
    assert causes(runs[0]) == ("args_complete.truncated (defect)",)
    assert [(len(found), codes) for codes, found in groups(runs)] == [(2, causes(runs[0]))]


def test_the_row_counts_verdicts_classes_and_what_lacks() -> None:
    runs = [_run("a", "fail", DEFECT), _run("b", "pass"), _run("c", "not_applicable"), LACKS]
    assert worst_class(runs[0]) == "defect"
    assert worst_class(_run("d", "fail", UNCLASSED)) == "no class"
    assert row("mine", runs) == "| mine | 3 | 1 | 1 | 1 | 1 | 0 | 0 | 0 | store 3 |"


def test_the_same_seed_draws_the_same_failing_runs() -> None:
    runs = [_run(str(number), "fail" if number % 2 else "pass") for number in range(99)]
    drawn = draw(runs, 9, 1)
    assert drawn == draw(runs, 9, 1) != draw(runs, 9, 2)
    assert {run["verdict"] for run in drawn} == {"fail"}


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
