from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.core.scenario.scenario import (
    CassetteScript,
    FaultSpec,
    InboxItem,
    Limits,
    Scenario,
    Session,
    ToolTurn,
    Turn,
)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({}, "s"),
        ({"variant": "v"}, "s/v"),
        ({"stream": True}, "s+stream"),
        ({"wire": "openai-chat", "variant": "v", "stream": True}, "s/v@openai-chat+stream"),
    ],
)
def test_the_name_of_a_run(fields: dict[str, Any], name: str) -> None:
    assert Scenario(name="s", **fields).run_name == name


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        ({"say": "x", "times": 0}, Turn, ">= 1"),
        ({"say": "x", "times": "often"}, Turn, "times"),
        ({"input": {}}, Turn, "`input` belongs to a `use`"),
        ({"say": "x", "for": "else"}, Turn, "Invalid enum value 'else'"),
        ({"say": "x", "purpose": "aux"}, Turn, "unknown field `purpose`"),
        ({}, ToolTurn, "a turn needs"),
        ({"times": 2}, ToolTurn, "a turn needs"),
        ({"hang": False}, ToolTurn, "a turn needs"),
        ({"ok": 1, "error": "x"}, ToolTurn, "only one of"),
        ({"hang": True, "ok": 1}, ToolTurn, "only one of"),
        ({"hang": -1}, ToolTurn, "> 0"),
        ({"bytes": -1}, ToolTurn, ">= 0"),
        ({"model_calls": -1}, Limits, ">= 0"),
        ({"real_s": 0}, Limits, "> 0"),
        ({"calls": 1}, Limits, "unknown field `calls`"),
        ({"session": "a\nb"}, InboxItem, "matching regex"),
        ({"kind": "stop"}, InboxItem, "Invalid enum value"),
        ({"often": "twice", "kind": "x"}, FaultSpec, "often"),
        ({"then": "stop", "kind": "x"}, FaultSpec, "Invalid enum value"),
        ({"on": "model"}, FaultSpec, "missing required field `kind`"),
        ({"status": 529, "kind": "x"}, FaultSpec, "unknown field `status`"),
        ({"messages": [{"role": "system", "content": "x"}]}, Session, "Invalid enum value"),
        ({"name": "s", "window_tokens": 0}, Scenario, ">= 1"),
    ],
)
def test_what_a_file_may_not_say(value: dict[str, Any], kind: type[Any], words: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=words.replace("(", r"\(")):
        msgspec.convert(value, kind)


@pytest.mark.parametrize(
    "value",
    [
        {"hang": True},
        {"hang": 2, "ok": "late"},
        {"effect": "pay"},
        {"ok": None},
        {"raise": "boom", "times": "forever"},
        {"bytes": 0, "effect": "log", "key": "k"},
    ],
)
def test_what_a_tool_may_do(value: dict[str, Any]) -> None:
    assert msgspec.to_builtins(msgspec.convert(value, ToolTurn)) == value


def test_a_script_is_turns_or_a_cassette() -> None:
    turns = msgspec.convert({"name": "s", "script": [{"say": "x"}]}, Scenario)
    assert turns.script == (Turn(say="x"),)
    cassette = msgspec.convert({"name": "s", "script": {"cassette": "x.yaml"}}, Scenario)
    assert cassette.script == CassetteScript(cassette="x.yaml")


def test_a_tool_without_a_schema_takes_nothing() -> None:
    scenario = msgspec.convert({"name": "s", "tools": {"t": {}}}, Scenario)
    assert scenario.tools["t"].input_schema == {"type": "object", "properties": {}}


def test_limits_that_nothing_reaches_are_all_that_count_calls() -> None:
    limits = Limits.unreached(model_calls=7)
    counted = [name for name in Limits.__struct_fields__ if name.endswith("_calls")]
    assert {name: getattr(limits, name) for name in counted} == {
        **dict.fromkeys(counted, 1 << 40),
        "model_calls": 7,
    }
    assert (limits.virtual_s, limits.real_s) == (1 << 40, Limits().real_s)
