"""The schemas of parts: of checks with their settings and codes, and of each kind of fault.

Faults with equal settings and seams share a condition, so an editor reads about a hundred.
"""

from __future__ import annotations

import json
import re
from typing import Any

from harness.checks.judge import CHECKS, checks, rules_of
from harness.core.transition.arming import ON, seam_of
from harness.core.values.verdict import BOOK_KEEPING
from harness.faults import FAULTS, Fault, faults
from harness.parts.part import Part
from harness.schema.struct_schema import (
    Node,
    closed,
    key_text,
    ref,
    schema_of_type,
    setting_text,
    words,
)


def check_definitions() -> dict[str, Node]:
    """Return the definitions `CheckName`, `CheckSettings` and `Code`."""
    found = CHECKS.parts()
    named = [{"const": name, **words(part.text)} for name, part in found.items()]
    return {
        "CheckName": {"anyOf": named},
        "CheckSettings": closed(
            {
                name: closed(settings_schema(part), **words(part.text))
                for name, part in found.items()
            }
        ),
        "Code": _codes(),
    }


def either_form() -> Node:
    """Return the schema of check settings: a mapping, or a list of names and mappings."""
    named = {"anyOf": [ref("CheckName"), ref("CheckSettings", minProperties=1)]}
    return {"anyOf": [ref("CheckSettings"), {"type": "array", "items": named}]}


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


def fault_schema(spec: Node) -> Node:
    """Return the schema of a fault: the keys of every fault, and beside them its own settings."""
    knobs = {key: node for key, node in spec["properties"].items() if key != "settings"}
    found = faults()
    knobs["kind"] = {
        **knobs["kind"],
        "anyOf": [{"const": kind, **words(fault.text)} for kind, fault in found.items()],
    }
    knobs["on"] = {k: v for k, v in knobs["on"].items() if k not in ("type", "default")}
    return {
        "type": "object",
        **words("A fault: its kind, when it fires, and its own settings."),
        "properties": knobs,
        "required": ["kind"],
        "allOf": [_condition(kinds, found[kinds[0]], [*knobs]) for kinds in _groups(found)],
    }


def _groups(found: Any) -> list[list[str]]:
    """Return the kinds in groups of equal settings and seams."""
    groups: dict[str, list[str]] = {}
    for kind, fault in found.items():
        groups.setdefault(json.dumps([settings_schema(FAULTS.part(kind)), fault.seams]), []).append(
            kind
        )
    return list(groups.values())


def _condition(kinds: list[str], fault: Fault, knobs: list[str]) -> Node:
    pattern = f"^({'|'.join(map(re.escape, kinds))})$"  # an editor would list an enum for each kind
    every = {knob: True for knob in knobs if knob != "on"}
    return {
        "if": {"properties": {"kind": {"pattern": pattern}}, "required": ["kind"]},
        "then": {
            "properties": {**every, "on": _seams(fault), **settings_schema(FAULTS.part(kinds[0]))},
            "additionalProperties": False,
        },
    }


def _seams(fault: Fault) -> Node:
    """Return the values of `on` for a fault."""
    named = {"enum": [on for on in ON if seam_of(on) in fault.seams]}
    told = words(key_text("FaultSpec", "on"))
    if "tool" not in fault.seams:
        return {**named, **told}
    return {"anyOf": [named, {"type": "string", "pattern": "^tool:."}], **told}


def settings_schema(part: Part) -> dict[str, Node]:
    """Return the settings of a fault or a check: type, range, default, text."""
    return {
        name: {
            **schema_of_type(setting.type),
            **({} if setting.default is None else {"default": setting.default}),
            **words(setting_text(part.name, name, part.text, not part.plugin)),
        }
        for name, setting in part.settings.items()
    }
