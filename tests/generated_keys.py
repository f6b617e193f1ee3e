"""The tables of keys in the documents, from the structs and from `harness/schema/keys.tsv`.

A page marks a table: `<!-- keys Turn -->`, the table, `<!-- /keys -->`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.schema import schema_of
from harness.schema.struct_schema import KEYS
from tests.generated_pages import DOCS

_BLOCK = re.compile(r"(<!-- keys (\w+) -->\n).*?(<!-- /keys -->)", re.DOTALL)
_WORDS = {"string": "string", "integer": "integer", "number": "number", "boolean": "boolean"}
_PARTS = {
    *("AtMs", "After", "Bounds", "CassetteScript", "ExpectCalls", "ExpectReply", "MustNot"),
    *("ProfileLimits", "RequestText", "SeedMessage", "Waits", "When"),
}
"""Structs without their own table: their keys stand below the key that holds them."""

PAGES = ("scenario.md", "profiles.md", "configuration.md")


def with_key_tables(text: str) -> str:
    """A page with its tables as the schema says them now."""
    return _BLOCK.sub(lambda found: f"{found[1]}{key_table(found[2])}\n{found[3]}", text)


def key_table(struct: str) -> str:
    """The table of a struct's keys in the order of `keys.tsv`, with those of its small parts."""
    return "\n".join(["| key | type | default | meaning |", "|---|---|---|---|", *_rows(struct)])


def _rows(struct: str, prefix: str = "") -> Iterator[str]:
    node = _struct(struct)
    required = node.get("required", ())
    for key in [key.partition(".")[2] for key in KEYS if key.partition(".")[0] == struct]:
        value = node["properties"][key]
        yield _row(struct, key, value, key in required, prefix)
        for part in dict.fromkeys(_references(value)):  # one mapping, or a list of them
            if part in _PARTS:
                yield from _rows(part, f"{prefix}{key}.")


def _references(node: Any) -> list[str]:
    if isinstance(node, list):
        return [name for child in node for name in _references(child)]
    if not isinstance(node, dict):
        return []
    own = [node["$ref"].rpartition("/")[2]] if "$ref" in node else []
    return own + [name for child in node.values() for name in _references(child)]


def _struct(name: str) -> Any:
    roots = {"Scenario": "scenario", "Profile": "profile", "Configuration": "configuration"}
    if name in roots:
        return schema_of(roots[name])
    found = {**schema_of("scenario")["definitions"], **schema_of("configuration")["definitions"]}
    return found[name]


def _row(struct: str, key: str, node: Any, required: bool, prefix: str) -> str:
    words = KEYS[f"{struct}.{key}"]
    default = "required" if required else words.default or _default(node)
    kind = words.type or type_words(node)
    text = f"{words.text} [More]({words.see})." if words.see else words.text
    cells = (f"`{prefix}{key}`", kind, default, text)
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _default(node: Any) -> str:
    if "default" not in node:
        return "none"
    value = node["default"]
    if value == {} and "$ref" in node:
        return "empty"
    return f"`{value if isinstance(value, str) and value else json.dumps(value)}`"


def type_words(node: Any) -> str:
    """The type of a value in words."""
    if "enum" in node:
        return ", ".join(f"`{_literal(value)}`" for value in node["enum"] if value is not None)
    if "anyOf" in node:
        return _any_of(node["anyOf"])
    kinds = node.get("type")
    if isinstance(kinds, list):
        words = [type_words({**node, "type": kind}) for kind in kinds if kind != "null"]
        return ", or ".join(words)
    if kinds == "array":
        return f"list of {_plural(type_words(node['items']))}"
    if kinds == "object" or "$ref" in node:
        return "mapping"
    if kinds == "number" and "exclusiveMinimum" in node:
        return "number above 0"
    least = f" from {node['minimum']}" if node.get("minimum") else ""
    return f"{_WORDS[kinds]}{least}" if kinds else "any JSON"


def _any_of(options: list[Any]) -> str:
    """The alternatives; a list of what one value may be is `a list of them`."""
    words = [type_words(option) for option in options if option != {"type": "null"}]
    again = {f"list of {word}" for word in words}
    return ", or ".join(dict.fromkeys("a list of them" if w in again else w for w in words))


def _literal(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _plural(words: str) -> str:
    return f"{words}s" if words in (*_WORDS, "mapping") else words


def main(docs: Path = DOCS) -> None:
    """Write the tables of the pages."""
    for name in PAGES:
        page = docs / name
        page.write_text(with_key_tables(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
