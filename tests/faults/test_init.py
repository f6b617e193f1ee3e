from __future__ import annotations

import re
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.catalogue import ROWS
from harness.core.scenario.scenario import FaultSpec
from harness.core.values.errors import InputError
from harness.faults import arm, faults
from harness.faults.shared.fault import LAYERS, check_fault_shape

TESTS = Path(__file__).parent
NAMES = st.text("abcdefghijklmnopqrstuvwxyz_.", min_size=1)


def test_every_row_of_the_table_is_made_or_has_a_reason() -> None:
    made = {code for fault in faults().values() for code in fault.codes}
    not_made = {code for code, row in ROWS.items() if row.not_made}
    assert made | not_made == set(ROWS)
    assert not made & not_made
    named = {kind for row in ROWS.values() for kind in row.made_by}
    assert named <= set(faults())


def test_every_fault_is_documented_and_can_be_armed_with_its_defaults() -> None:
    for kind, fault in faults().items():
        armed = arm(FaultSpec(kind=kind))
        assert (armed.spec.kind, armed.spec.on, armed.fired) == (kind, fault.on, 0)
        assert fault.text
        assert set(fault.codes) <= set(ROWS)


def test_every_fault_has_the_shape_that_is_asked_of_a_plug_in() -> None:
    """So codes, providers and the other constants name functions that there are."""
    for fault in faults().values():
        if isinstance(fault.function, FunctionType):
            check_fault_shape(fault, fault.function)
        assert fault.kind.startswith(f"{fault.layer}.")
    assert {fault.layer for fault in faults().values()} == set(LAYERS)


def test_they_stand_in_the_order_of_their_names() -> None:
    assert list(faults()) == sorted(faults())


def test_every_fault_has_a_test_of_its_name() -> None:
    for kind in faults():
        layer, _, name = kind.partition(".")
        texts = [p.read_text() for p in (TESTS, TESTS / layer) for p in p.glob("*.py")]
        assert any(re.search(rf"\b{name}\b", text) for text in texts), kind


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"kind": "http.statsu"},
            "fault 'http.statsu': unknown; did you mean 'http.status' or 'http.retry_after_ms'?",
        ),
        ({"kind": "status"}, "fault 'status': unknown"),
        ({"kind": "http._TYPES"}, "unknown"),
        (
            {"kind": "http.status", "settings": {"statu": 1}},
            "no setting 'statu'; did you mean 'status'?",
        ),
        ({"kind": "http.status", "settings": {"moment": 1}}, "no setting 'moment'"),
        (
            {"kind": "http.status", "settings": {"status": "529"}},
            "'status': Expected `int`, got `str`",
        ),
        ({"kind": "http.status", "settings": {"status": 200}}, "'status': Expected `int` >= 400"),
        (
            {"kind": "transport.latency", "settings": {"wait_s": 0}},
            "'wait_s': Expected `float` > 0",
        ),
        (
            {"kind": "transport.reset_mid_stream", "settings": {"after": -1}},
            "'after': Expected `int` >= 0",
        ),
        ({"kind": "http.status", "on": "modle"}, "on 'modle': did you mean 'model'?"),
        ({"kind": "http.status", "on": "store"}, "on 'store': it strikes on model, tool, inbox"),
        ({"kind": "tools.raises", "on": "model"}, "on 'model': it strikes on tool"),
        ({"kind": "http.status", "on": "model:x"}, "on 'model:x': "),
    ],
)
def test_what_cannot_be_armed(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        arm(FaultSpec(**fields), "s.yaml:3")
    assert words in caught.value.what
    assert caught.value.place == "s.yaml:3"


@pytest.mark.parametrize(
    "on", ["model", "tool", "tool:x", "main", "compact", "aux", "inbox", "outbox"]
)
def test_where_a_fault_may_strike(on: str) -> None:
    assert arm(FaultSpec(kind="http.status", on=on)).spec.on == on


@given(NAMES)
def test_no_name_is_armed_by_accident(name: str) -> None:
    if name not in faults():
        with pytest.raises(InputError, match="unknown"):
            arm(FaultSpec(kind=name))
