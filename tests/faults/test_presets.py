"""Rows of the presets: each fits its template, and makes a fault of its layer."""

from __future__ import annotations

import inspect
from typing import get_type_hints

import msgspec
import pytest

from harness.catalogue import ROWS
from harness.catalogue.fault_table import PRESETS, Preset
from harness.core.transition.arming import ON, seam_of
from harness.faults import faults, template_of
from harness.faults.shared.fault import preset_fault


@pytest.mark.parametrize("preset", PRESETS.values(), ids=str)
def test_a_row_fits_its_template(preset: Preset) -> None:
    template = template_of(preset.template)
    types = get_type_hints(template, include_extras=True)
    given = {**preset.constants, **preset.settings}
    assert len(given) == len(preset.constants) + len(preset.settings)
    for name, value in given.items():
        assert msgspec.convert(value, types[name]) == value
    parameters = inspect.signature(template).parameters.values()
    without = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty}
    assert without <= set(given)
    assert preset.template.partition(".")[0] in ("shared", preset.kind.partition(".")[0])


@pytest.mark.parametrize("preset", PRESETS.values(), ids=str)
def test_a_row_says_what_a_module_says_of_a_function(preset: Preset) -> None:
    fault = faults()[preset.kind]
    codes = tuple(code for code, row in ROWS.items() if preset.kind in row.made_by)
    assert (fault.kind, fault.text, fault.codes) == (preset.kind, preset.text, codes)
    assert preset.text.endswith(".")
    assert fault.on in ON
    assert seam_of(fault.on) in fault.seams
    assert list(fault.settings) == list(fault.defaults) == list(preset.settings)


def test_settings_may_be_changed_and_constants_may_not() -> None:
    row = PRESETS["tools.raises"]
    fault = preset_fault(row, template_of(row.template))
    assert fault.settings == {"message": str}
    assert fault.defaults == {"message": "tool failure"}
