"""Texts of `harness explain` for settings of faults and checks, and for the keys of files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.faults import Fault
    from harness.schema.json_schema import FileKey


def setting_names() -> Iterator[str]:
    """Return the settings of all faults and checks: `http.status.retry_after`, `backoff.cap_s`."""
    from harness.checks.judge import checks
    from harness.faults import faults

    for part in (*faults(), *checks()):
        yield from settings_of_part(part)


def settings_of_part(part: str) -> Iterator[str]:
    """Return the settings of a fault or a check; nothing for any other name."""
    from harness.checks.judge import checks, settings_of
    from harness.faults import faults

    if part in faults():
        yield from (f"{part}.{setting}" for setting in faults()[part].defaults)
    elif part in checks():
        yield from (f"{part}.{setting}" for setting in settings_of(checks()[part]))


def setting_texts(code: str) -> Iterator[str]:
    """Return the text of a setting of a fault or a check."""
    from harness.checks.judge import CHECKS, checks
    from harness.faults import FAULTS, faults
    from harness.schema.part_schema import settings_schema

    part, _, setting = code.rpartition(".")
    if part in faults() and setting in faults()[part].defaults:
        node, fault = settings_schema(FAULTS.part(part))[setting], faults()[part]
        yield _setting(code, f"setting of the fault {part}", node, _fault_example(fault, setting))
    if part in checks() and setting in (found := settings_schema(CHECKS.part(part))):
        value = json.dumps(found[setting].get("default"))
        example = f"checks: {{{part}: {{{setting}: {value}}}}}"
        yield _setting(code, f"setting of the check {part}", found[setting], example)


def _setting(code: str, what: str, node: Any, example: str) -> str:
    return "\n\n".join(
        [f"{code}  ({what})", f"{node['description']} {value_words(node)}", f"Example: {example}"]
    )


def settings_list(fault: Fault) -> Iterator[str]:
    """Return the settings of a fault, a line each."""
    from harness.faults import FAULTS
    from harness.schema.part_schema import settings_schema

    found = settings_schema(FAULTS.part(fault.kind))
    lines = [f"  {name}: {node['description']} {value_words(node)}" for name, node in found.items()]
    yield "\n".join(["Settings:", *lines]) if lines else "Settings: none."


def fault_line(fault: Fault) -> str:
    """Return a fault with its default settings, as a scenario writes it."""
    known = {k: v for k, v in fault.defaults.items() if v is not None and v != ""}
    said = (f"{name}: {json.dumps(value)}" for name, value in known.items())
    return ", ".join([f"kind: {fault.kind}", *said, "when: 1"])


def _fault_example(fault: Fault, setting: str) -> str:
    default = fault.defaults[setting]
    value = "…" if default is None or default == "" else json.dumps(default)
    return f"faults: [{{kind: {fault.kind}, {setting}: {value}}}]"


def value_words(node: Any) -> str:
    """Return the values that a schema allows: `(integer from 400 to 599; default 529)`."""
    default = f"; default {json.dumps(node['default'])}" if "default" in node else ""
    return f"({_type(node)}{default})"


def _type(node: Any) -> str:
    if "enum" in node:
        return "one of " + ", ".join(json.dumps(value) for value in node["enum"])
    if "anyOf" in node:
        return " or ".join(dict.fromkeys(_type(option) for option in node["anyOf"]))
    if "const" in node:
        return json.dumps(node["const"])
    kind = node.get("type", "mapping" if "$ref" in node else "any value")
    kind = " or ".join(kind) if isinstance(kind, list) else kind
    kind = {"object": "mapping", "array": "list"}.get(kind, kind)
    least = f" from {node['minimum']}" if "minimum" in node else ""
    above = f" above {node['exclusiveMinimum']}" if "exclusiveMinimum" in node else ""
    most = f" to {node['maximum']}" if "maximum" in node else ""
    return f"{kind}{least}{above}{most}"


def key_names() -> Iterator[str]:
    """Return the paths of all keys of files."""
    from harness.schema.json_schema import file_keys

    yield from file_keys()


def key_texts(code: str) -> Iterator[str]:
    """Return the text of a key, for each kind of file that has it."""
    from harness.schema.json_schema import file_keys

    yield from (_key(key) for key in file_keys().get(code, ()))


def _key(key: FileKey) -> str:
    words = key.node["description"]
    return f"{key.path}  (key of a {key.file} file)\n\n{words} {_values(key.node)}"


def _values(node: Any) -> str:
    """Return the allowed values, or "" for a long list of names, which other commands print."""
    shown = value_words(node)
    return shown if len(shown) < 300 else ""
