"""`harness schema`: the JSON Schema of a scenario file, for editors.

The structs of `core.scenario` give the schema of one variant; the short forms of keys are added
here. Names of faults, checks and session formats include those of the loaded plug-ins.
"""

from __future__ import annotations

import json
from typing import Any

import click

from harness.cli.options import every_verb, plugins
from harness.cli.terminal import out
from harness.core.scenario.scenario import OF_THE_COMMAND

_OF_PROFILES = ("Profile", "ProfileLimits", "Capabilities")
_ID = "https://json-schema.org/draft/2020-12/schema"


@click.command("schema")
@plugins
@every_verb
def command(as_json: bool) -> int:
    """Print the JSON Schema of scenario files (with --json on one line)."""
    out(json.dumps(document(), indent=None if as_json else 2))
    return 0


def document() -> dict[str, Any]:
    """The schema of a scenario file."""
    import msgspec

    from harness.core.scenario.scenario import Scenario

    (_,), parts = msgspec.json.schema_components([Scenario], ref_template="#/$defs/{name}")
    scenario = parts.pop("Scenario")
    parts = {name: part for name, part in parts.items() if name not in _OF_PROFILES}
    keys = {k: v for k, v in scenario["properties"].items() if k not in OF_THE_COMMAND}
    keys |= _short_forms(keys)
    changes = {k: v for k, v in keys.items() if k != "name"}
    parts["FaultSpec"] = _fault(parts["FaultSpec"])
    parts["Session"] = _session(parts["Session"])
    parts["Changes"] = {"type": "object", "properties": changes, "additionalProperties": False}
    keys["variants"] = {
        "type": "object",
        "additionalProperties": {"$ref": "#/$defs/Changes"},
        "description": "Named changes, merged into the baseline; a list replaces a list.",
    }
    return {
        "$schema": _ID,
        "title": "A scenario of loop-harness",
        "type": "object",
        "properties": keys,
        "required": ["name", "script"],
        "additionalProperties": False,
        "$defs": parts,
    }


def _short_forms(keys: dict[str, Any]) -> dict[str, Any]:
    """Add the short forms of keys, and the forms for several runs at once."""
    from harness import providers
    from harness.checks import checks

    named = {"enum": list(checks())}
    settings = {**keys["checks"], "propertyNames": named}
    one = {"type": "object", "minProperties": 1, "propertyNames": named}
    check = {"anyOf": [named, one]}
    wire = {"enum": [*providers.names()], "default": keys["wire"]["default"]}
    return {
        "stream": {"enum": [True, False, "both"], "default": False},
        "wire": {"anyOf": [wire, {"type": "array", "items": wire, "minItems": 1}]},
        "inbox": {"anyOf": [{"type": "string"}, keys["inbox"]]},
        "checks": {"anyOf": [settings, {"type": "array", "items": check}]},
    }


def _fault(spec: dict[str, Any]) -> dict[str, Any]:
    """Put a fault's own settings beside the knobs."""
    from harness.faults import faults

    knobs = {k: v for k, v in spec["properties"].items() if k != "settings"}
    knobs["kind"] = {**knobs["kind"], "enum": list(faults())}
    return {**spec, "properties": knobs, "additionalProperties": True}


def _session(spec: dict[str, Any]) -> dict[str, Any]:
    from harness.stores import readers

    formats = {"enum": [*readers(), None], "default": None}
    return {**spec, "properties": {**spec["properties"], "format": formats}}
