"""A correct agent that is killed at a request may make it again: no check reports that."""

from __future__ import annotations

from itertools import product

import msgspec
import pytest

from harness.agent import agent
from harness.core.scenario.scenario import FaultSpec
from harness.files.scenario_file import with_overlay
from harness.runner import run
from tests.scenarios.all_runs import named

NAMES = ("prompt-too-long/another-error", "five-identical-requests", "cannot-compress-further")

POINTS = [
    pytest.param(name, when, at, marks=() if (name, when) == (NAMES[1], 2) else pytest.mark.real)
    for name, when, at in product(NAMES, (1, 2, 3, 4), ("before", "after"))
]


@pytest.mark.parametrize(("name", "when", "at"), POINTS)
def test_a_kill_at_a_request_is_no_blind_resend(name: str, when: int, at: str) -> None:
    kill = FaultSpec(kind="gateway.killed", on="model", when=when, settings={"at": at})
    kill = msgspec.structs.replace(kill, must_fire=when == 1)
    verdict = run(with_overlay(named(name), (kill,), "kill"), agent).verdict
    assert [f"{f.code}: {f.message}" for f in verdict.findings] == []
    assert verdict.verdict == "pass"
