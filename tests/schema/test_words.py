"""Every key and every setting of a schema says what it is, from one place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from harness.checks.judge import checks, settings_of
from harness.configuration import Configuration
from harness.faults import faults
from harness.parts.loading import Plugin
from harness.schema import FILES, schema_of
from harness.schema.struct_schema import KEYS, SETTINGS, definitions, setting_text


@pytest.mark.parametrize("file", FILES)
def test_every_key_has_words(file: str) -> None:
    document = schema_of(file)
    assert jsonschema_rs.meta.is_valid(document)
    found = list(_properties(document))
    assert len(found) > 100
    assert [path for path, node in found if not node.get("description", "").strip()] == []


def _properties(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(node, list):
        for place, child in enumerate(node):
            yield from _properties(child, f"{path}/{place}")
    if not isinstance(node, dict):
        return
    keys = node.get("properties", {})
    for key, child in keys.items() if not path.endswith("/if") else ():
        if isinstance(child, dict):
            yield f"{path}/{key}", child
    for key, child in node.items():
        yield from _properties(child, f"{path}/{key}")


def test_no_row_is_of_a_key_that_there_is_not() -> None:
    found = {**schema_of("scenario")["definitions"], **schema_of("configuration")["definitions"]}
    found |= {"Scenario": schema_of("scenario"), "Overlay": schema_of("overlay")}
    found |= definitions([Configuration])
    for row in KEYS.values():
        struct, _, key = row.key.partition(".")
        assert key in found[struct]["properties"], row.key


def test_no_row_is_of_a_setting_that_there_is_not() -> None:
    parts = {kind: set(fault.settings) for kind, fault in faults().items()}
    parts |= {name: set(settings_of(check)) for name, check in checks().items()}
    named = {setting for settings in parts.values() for setting in settings}
    for row in SETTINGS.values():
        part, _, setting = row.setting.rpartition(" ")
        assert setting in (parts[part] if part else named), row.setting


def test_a_setting_says_its_unit() -> None:
    units = {"_s": "econds", "_ms": "illiseconds", "bytes": "ytes", "tokens": "tokens"}
    for kind, fault in faults().items():
        for setting in fault.settings:
            words = setting_text(kind, setting, fault.text, is_own=True)
            for ending, unit in units.items():
                if setting.endswith(ending):
                    assert unit in words, f"{kind} {setting}: {words}"


def test_the_kinds_the_checks_and_their_settings_are_listed() -> None:
    parts = schema_of("scenario")["definitions"]
    kinds = {option["const"] for option in parts["FaultSpec"]["properties"]["kind"]["anyOf"]}
    assert kinds == set(faults())
    assert set(parts["CheckSettings"]["properties"]) == set(checks())
    for name, check in checks().items():
        settings = parts["CheckSettings"]["properties"][name]["properties"]
        assert {key: node["default"] for key, node in settings.items()} == settings_of(check)


def test_the_setting_of_a_plug_in_has_the_sentence_that_names_it() -> None:
    text = "The disk is slow. Each write takes `wait_s` seconds. It succeeds."
    assert (
        setting_text("mine.slow", "wait_s", text, is_own=False)
        == "Each write takes `wait_s` seconds."
    )
    assert setting_text("mine.slow", "size", text, is_own=False) == "A setting of mine.slow."
    assert setting_text("clock.slow", "wait_s", text, is_own=True) == SETTINGS["wait_s"].text


def test_parts_of_a_plug_in_are_in_the_schema(plugged: Plugin) -> None:
    parts = schema_of("scenario")["definitions"]
    kinds = [option["const"] for option in parts["FaultSpec"]["properties"]["kind"]["anyOf"]]
    assert "mine.slow_disk" in kinds
    validator = jsonschema_rs.validator_for(schema_of("overlay"))
    assert validator.is_valid({"faults": [{"kind": "mine.slow_disk", "wait_s": 2}]})
    assert not validator.is_valid({"faults": [{"kind": "mine.slow_disk", "wait_s": "long"}]})
