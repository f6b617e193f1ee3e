from __future__ import annotations

import pkgutil
from typing import Any

import pytest

from harness import faults
from harness.core.errors import InputError
from harness.core.scenario import FaultSpec

CODES = {
    "http.status": "H4 H5 H6 H7 H8 H9 H10 H11 H12 H13",
    "sse.end_inside_tool_input": "S3",
    "sse.error_event": "S5",
    "sse.no_message_delta": "S2",
    "sse.no_message_stop": "S1",
    "tools.answer_lost": "X9",
    "tools.empty": "X3",
    "tools.late": "X2",
    "tools.raises": "X1",
    "transport.close_before_headers": "T5",
    "transport.headers_never_come": "T7",
    "transport.latency": "",
    "transport.reset_before_headers": "T4",
    "transport.reset_mid_stream": "T10",
    "transport.stalled_stream": "T12",
}
"""Each fault and the rows of the published table that it makes."""


def test_every_fault_has_its_rows_and_every_row_its_fault() -> None:
    found = {
        f"{layer.__name__.rpartition('.')[2]}.{name}": " ".join(codes)
        for layer in faults.LAYERS
        for name, codes in layer.CODES.items()
    }
    assert found == CODES
    assert sorted(found) == sorted(kind for kind, _, _ in faults.every())
    rows = " ".join(found.values()).split()
    assert len(rows) == len(set(rows))


def test_no_layer_is_left_out() -> None:
    folder = {f"harness.faults.{module.name}" for module in pkgutil.iter_modules(faults.__path__)}
    assert folder == {layer.__name__ for layer in faults.LAYERS}


def test_every_fault_can_be_armed_with_its_defaults_and_says_what_it_does() -> None:
    for kind, function, stage in faults.every():
        armed = faults.arm(FaultSpec(kind=kind))
        assert (armed.spec.kind, armed.stage, armed.fired) == (kind, stage, 0)
        assert function.__doc__


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "http.statsu"}, "fault 'http.statsu': unknown; did you mean 'http.status'?"),
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
        ({"kind": "http.status", "on": "store"}, "on 'store': "),
        ({"kind": "http.status", "on": "model:x"}, "on 'model:x': "),
    ],
)
def test_what_cannot_be_armed(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        faults.arm(FaultSpec(**fields), "s.yaml:3")
    assert words in caught.value.what
    assert caught.value.place == "s.yaml:3"


@pytest.mark.parametrize(
    "on", ["model", "tool", "tool:x", "main", "compact", "aux", "inbox", "outbox"]
)
def test_where_a_fault_may_strike(on: str) -> None:
    assert faults.arm(FaultSpec(kind="http.status", on=on)).spec.on == on
