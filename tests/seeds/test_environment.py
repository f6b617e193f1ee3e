"""Statements 125 to 129: one environment, whichever tool and whichever way in comes first.

In Hermes each of three tools has its own dict for the container, and three handwritten maps carry
its settings. Ours has one struct and derives the rest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent import agent as reference
from harness.agent.tool_environment import (
    SETTINGS,
    Environments,
    EnvironmentSpec,
    from_section,
    from_variables,
    to_variables,
    with_set,
)
from harness.core.values.messages import Json
from harness.runner import Run, run
from tests import mutants
from tests.mutants.environments import by_hand, file_tool_has_its_own_settings
from tests.scenarios.all_runs import all_runs, named
from tests.seeds.caught import caught
from tests.seeds.environments import (
    CONFIGURED,
    SECTIONS,
    TEXTS,
    TOOLS,
    Recording,
    created,
)

ORDERS = list(permutations(TOOLS))


def _in_order(order: tuple[str, ...]) -> str:
    variant = "-".join(order)
    return f"environment-parity/{variant}" if order != TOOLS else "environment-parity"


def _first_users(played: Run) -> tuple[str, ...]:
    names = [e.request.name for e in played.history.trace.executions]
    return tuple(dict.fromkeys(name for name in names if name in TOOLS))


@pytest.mark.seed(125, 126)
@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_every_order_makes_the_same_container(order: tuple[str, ...]) -> None:
    played = run(named(_in_order(order)), reference)
    assert played.verdict.verdict == "pass"
    assert _first_users(played) == order
    assert created(played) == [CONFIGURED]


@pytest.mark.seed(125, 126, kind="mutant")
@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_a_tool_with_settings_of_its_own_makes_the_order_decide(order: tuple[str, ...]) -> None:
    played = run(named(_in_order(order)), file_tool_has_its_own_settings)
    told = [f.message for f in played.verdict.findings if f.code == "expect.inputs"]
    assert len(told) == (order[0] != "terminal")
    assert all("env (" in message and "extra_args (" in message for message in told)


@pytest.mark.seed(126)
@pytest.mark.parametrize("first", ["file", "code"])
def test_what_is_configured_is_there_for_the_life_of_the_container(first: str) -> None:
    """The handle of the first use is the one of all that follow: nothing is made again later."""
    backend = Recording()
    environments = Environments(backend, lambda: from_section(CONFIGURED))
    handles = [environments.ready("task", tool) for tool in (first, *TOOLS, *TOOLS)]
    assert handles == [1] * 7
    [spec] = backend.asked
    assert spec.env == CONFIGURED["env"]
    assert list(spec.extra_args) == ["--gpus", "all"]
    caught("file_tool_has_its_own_settings")


@pytest.mark.seed(127)
@pytest.mark.parametrize("name", ["environment-defaults", "environment-defaults/terminal-first"])
def test_keys_that_are_not_set_are_empty_and_not_null(name: str) -> None:
    played = run(named(name), reference)
    assert played.verdict.verdict == "pass"
    [made] = created(played)
    assert made == EnvironmentSpec().plain()
    assert (made["env"], made["extra_args"]) == ({}, [])


@pytest.mark.seed(127)
@given(section=SECTIONS)
def test_a_key_that_is_not_set_changes_no_other(section: dict[str, Json]) -> None:
    made = from_section(section).plain()
    assert made == {**EnvironmentSpec().plain(), **section}
    assert from_section({}) == from_variables({}) == EnvironmentSpec()


@pytest.mark.seed(128)
def test_each_key_that_a_tool_reads_is_in_all_three_ways() -> None:
    """The key diff: what reaches the backend, against the variables, their reader and
    `config set`, each found by what it does and not by the table."""
    read = set(CONFIGURED)
    assert read == set(EnvironmentSpec().plain())
    written = to_variables(from_section(CONFIGURED))
    assert {v.removeprefix("TERMINAL_").lower() for v in written} == read
    default = EnvironmentSpec().plain()
    for variable, value in written.items():
        alone = from_variables({variable: value}).plain()
        assert {k for k in read if alone[k] != default[k]} == {
            variable.removeprefix("TERMINAL_").lower()
        }
    section: dict[str, Json] = {}
    for key, value in CONFIGURED.items():
        text = value if isinstance(value, str) else json.dumps(value)
        section = with_set(section, f"terminal.{key}", text)
    assert section == CONFIGURED


@pytest.mark.seed(128)
def test_a_table_has_each_key_once_in_each_spelling() -> None:
    fields = EnvironmentSpec.__struct_fields__
    assert tuple(s.key for s in SETTINGS) == fields
    for spelling in ("key", "name", "variable"):
        assert len({getattr(s, spelling) for s in SETTINGS}) == len(fields)


@pytest.mark.seed(128, kind="mutant")
def test_a_bridge_that_is_written_by_hand_loses_a_key() -> None:
    handed = by_hand(from_section(CONFIGURED))
    assert to_variables(from_section(CONFIGURED)).keys() - handed.keys() == {"TERMINAL_EXTRA_ARGS"}
    [made] = created(caught("bridge_forgets_extra_args"))
    assert made == {**CONFIGURED, "extra_args": []}


@pytest.mark.seed(129)
@given(section=SECTIONS)
def test_variables_give_back_what_was_configured(section: dict[str, Json]) -> None:
    spec = from_section(section)
    variables = to_variables(spec)
    assert from_variables(variables) == spec
    assert all("\0" not in value and value.isprintable() for value in variables.values())


@pytest.mark.seed(129)
@given(args=TEXTS, more=st.sampled_from(["extra_args", "cap_drop", "mounts"]))
def test_a_list_in_a_json_string_is_the_list(args: list[str], more: str) -> None:
    plain: Mapping[str, Json] = {more: args}
    assert from_section({more: json.dumps(args)}) == from_section(plain)
    assert with_set({}, f"terminal.{more}", json.dumps(args)) == plain


@pytest.mark.seed(129, kind="mutant")
def test_a_list_that_is_joined_is_another_list() -> None:
    assert created(run(named("environment-parity/json-in-strings"), reference)) == [CONFIGURED]
    [made] = created(caught("extra_args_become_text"))
    assert made["extra_args"] == ["--gpus all"] != CONFIGURED["extra_args"]
    assert mutants.named("extra_args_become_text").mutant.killed_by == "expect.inputs"


def test_every_order_is_a_run() -> None:
    names = {s.run_name for s in all_runs()}
    assert {_in_order(order) for order in ORDERS} <= names
