"""The schema of checks: their names, their settings, and the codes of their findings."""

from __future__ import annotations

from harness.checks.judge import CHECKS, checks, own_checks, rules_of
from harness.core.values.verdict import BOOK_KEEPING
from harness.parts.part import Part
from harness.schema.key_table import setting_text
from harness.schema.struct_schema import Node, ref, schema_of_type, words


def check_definitions() -> dict[str, Node]:
    """Return the definitions `CheckName`, `CheckSettings` and `Code`."""
    found = CHECKS.parts()
    named = [{"const": name, **words(part.text)} for name, part in found.items()]
    return {
        "CheckName": {"anyOf": named},
        "CheckSettings": {
            "type": "object",
            "properties": {name: _settings(part) for name, part in found.items()},
            "additionalProperties": False,
        },
        "Code": _codes(),
    }


def either_form() -> Node:
    """Return the schema of check settings: a mapping, or a list of names and mappings."""
    named = {"anyOf": [ref("CheckName"), ref("CheckSettings", minProperties=1)]}
    return {"anyOf": [ref("CheckSettings"), {"type": "array", "items": named}]}


def _settings(part: Part) -> Node:
    return {
        "type": "object",
        **words(part.text),
        "properties": settings_of_check(part.name),
        "additionalProperties": False,
    }


def settings_of_check(name: str) -> dict[str, Node]:
    """Return the settings of a check: type, default, text."""
    part = CHECKS.part(name)
    return {
        setting: {
            **schema_of_type(kind.type),
            "default": kind.default,
            **words(setting_text(name, setting, part.text, name in own_checks())),
        }
        for setting, kind in part.settings.items()
    }


def _codes() -> Node:
    """Return the schema of finding codes.

    The class table lists all codes of most checks: these are an enumeration. A check with a row
    `check.*`, without a row, or for book-keeping may have further codes: these are a pattern.
    """
    listed, others = [], []
    for name in checks():
        rules = {row.code for row in rules_of(name)}
        if rules and f"{name}.*" not in rules and name not in BOOK_KEEPING:
            listed += sorted(rules)
        else:
            listed += sorted(rules - {f"{name}.*"})
            others.append(name)
    names = "|".join(name.replace(".", "[.]") for name in others)
    return {"anyOf": [{"enum": listed}, {"type": "string", "pattern": f"^({names})[.]."}]}
