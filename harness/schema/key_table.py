"""The words of keys and settings: `keys.tsv` and `settings.tsv`, the one place where they stand.

The schemas, `harness explain` and the tables of the documentation take them from here.
"""

from __future__ import annotations

import re
from types import MappingProxyType

import msgspec

from harness.core.values.table_file import table


class KeyWords(msgspec.Struct, frozen=True):
    """The words of a key `STRUCT.key`.

    `type` and `default` stand only where the documentation says them otherwise than the struct;
    `see` is the place of the documentation that tells more.
    """

    key: str
    type: str = ""
    default: str = ""
    text: str = ""
    see: str = ""


class SettingWords(msgspec.Struct, frozen=True):
    """The words of a setting: of one fault or check (`http.status type`), or of all with a name."""

    setting: str
    text: str


KEYS: MappingProxyType[str, KeyWords] = table("harness.schema", "keys.tsv", KeyWords)
SETTINGS: MappingProxyType[str, SettingWords] = table(
    "harness.schema", "settings.tsv", SettingWords
)


def key_text(struct: str, key: str) -> str:
    """What a key of a struct says. Raises LookupError for a key without a row."""
    return KEYS[f"{struct}.{key}"].text


def setting_text(part: str, setting: str, docstring: str = "") -> str:
    """What a setting of a fault or a check says.

    A part of a plug-in has no row: the sentence of its docstring that names the setting says it.
    """
    row = SETTINGS.get(f"{part} {setting}") or (SETTINGS.get(setting) if not docstring else None)
    if row is not None:
        return row.text
    sentences = re.split(r"(?<=[.;:])\s+", " ".join(docstring.split()))
    named = [sentence for sentence in sentences if f"`{setting}`" in sentence]
    return named[0] if named else f"A setting of {part}."
