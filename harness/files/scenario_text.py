"""The keys of a scenario file as YAML for readers: block text, and anchors for equal turns.

Strings that YAML 1.2 reads as numbers or truth values are quoted, because PyYAML's writer follows
1.1. Reading the output gives the same values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import yaml

from harness.core.scenario.scenario import OF_THE_COMMAND, Scenario
from harness.core.values.errors import InputError
from harness.core.values.messages import Json, canonical, printable
from harness.files.yaml_text import is_no_text
from harness.redaction.encoder import shown
from harness.redaction.masking import mask_whole_value

_SHARED = ("script",)
"""The lists whose equal items are written once."""

_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Writer(_Dumper):  # type: ignore[misc]
    """A writer of plain values with our style of text."""


def _text(writer: Any, text: str) -> Any:
    style = "|" if "\n" in text.strip("\n") else "'" if is_no_text(text) else None
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Writer.add_representer(str, _text)


def scenario_text(document: dict[str, Json], head: Sequence[str] = ()) -> str:
    """The file's text; `head` are lines of comment before it.

    Secrets are masked. Half of a surrogate pair, which fits into no file, becomes its escape.
    Raises InputError for a document that is nested too deeply to be searched for secrets.
    """
    said = _masked(document)
    shared = {
        key: _once(value) if key in _SHARED and isinstance(value, list) else value
        for key, value in said.items()
    }
    body = yaml.dump(shared, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=96)
    lines = ("".join(c if c.isprintable() else " " for c in shown(line)).split() for line in head)
    return "".join(f"# {' '.join(words)}\n" for words in lines) + str(body)


def _masked(document: dict[str, Json]) -> dict[str, Json]:
    try:
        said: dict[str, Json] = mask_whole_value(printable(document))
    except RecursionError:  # `mask_value` would change the scenario: it masks what is deep
        raise InputError("nested too deeply to be written") from None
    return said


def scenario_yaml(scenario: Scenario, head: Sequence[str] = ()) -> str:
    """The file of a scenario: read again, it is the same scenario, its folder and variant apart.

    The name of the file is the scenario's, `NAME.yaml`.
    """
    values: dict[str, Json] = msgspec.to_builtins(scenario)
    document = {key: value for key, value in values.items() if key not in OF_THE_COMMAND}
    if scenario.faults:
        document["faults"] = [_fault(fault) for fault in values["faults"]]
    last = {"script": values.get("script", [])}
    ordered = {k: v for k, v in document.items() if k != "script"} | last
    return scenario_text(ordered, head)


def _fault(fault: dict[str, Json]) -> dict[str, Json]:
    if isinstance(when := fault.get("when"), dict):
        fault = fault | {"when": {k: v for k, v in when.items() if v is not None}}
    settings: dict[str, Json] = fault.get("settings", {})
    return {k: v for k, v in fault.items() if k != "settings"} | settings


def _once(items: list[Json]) -> list[Json]:
    """Equal items as one object, so that the writer makes an alias."""
    seen: dict[str, Json] = {}
    return [seen.setdefault(canonical(item), item) for item in items]
