"""What needs virtual time, and what does not."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, ToolScript, ToolTurn
from harness.core.values.profile import Profile
from harness.runner.needs import needs_virtual_time, unplayable
from harness.targets.spec import of_callable

PLAIN = Scenario(name="plain", inbox=(InboxItem(text="hello"),))


def _fault(kind: str, **settings: Any) -> dict[str, Any]:
    return {"faults": (FaultSpec(kind=kind, settings=settings),)}


@pytest.mark.parametrize(
    "changes",
    [
        {"inbox": (InboxItem(text="late", when={"ms": 31_000}),)},
        _fault("http.status", retry_after=3600),
        _fault("http.status", retry_after="3600"),
        _fault("transport.latency", wait_s=31),
        _fault("transport.headers_never_come"),
        _fault("transport.stalled_stream"),
        _fault("tools.late"),
        _fault("tools.answer_lost"),
        {"tools": {"slow": ToolScript(script=(ToolTurn(hang=True),))}},
        {"tools": {"slow": ToolScript(script=(ToolTurn(hang=31.0),))}},
    ],
    ids=str,
)
def test_needs_virtual_time(changes: dict[str, Any]) -> None:
    assert needs_virtual_time(msgspec.structs.replace(PLAIN, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"inbox": (InboxItem(text="soon", when={"ms": 50}),)},
        _fault("http.status"),
        _fault("http.status", retry_after="soon"),
        _fault("transport.stalled_stream", wait_s=0.1),
        _fault("transport.reset_before_headers"),
    ],
    ids=str,
)
def test_passes_through_real_time(changes: dict[str, Any]) -> None:
    assert needs_virtual_time(msgspec.structs.replace(PLAIN, **changes)) == ""


def test_two_tools_that_a_profile_names_alike_cannot_be_told_apart() -> None:
    tools = {"list": ToolScript(), "ls": ToolScript()}
    for names, clashes in (({"list": "ls"}, True), ({"list": "LS"}, False), ({}, False)):
        scenario = msgspec.structs.replace(PLAIN, tools=tools, profile=Profile(tool_names=names))
        lacks = unplayable(scenario, of_callable(print), "simulate")
        told = "the profile gives the tools list and ls the same name: ls"
        assert [lack.reason for lack in lacks] == ([told] if clashes else [])
