"""The texts of keys and settings: `keys.tsv` and `settings.tsv` are their only source.

The schemas, `harness explain` and the tables of the documentation use them.
"""

from __future__ import annotations

import re
from types import MappingProxyType

import msgspec

from harness.core.values.table_file import table


class KeyWords(msgspec.Struct, frozen=True):
    """The text of a key `STRUCT.key`.

    `type` and `default` are set only if the documentation differs from the struct. `see` is a
    section of the documentation with more.
    """

    key: str
    type: str = ""
    default: str = ""
    text: str = ""
    see: str = ""


class SettingWords(msgspec.Struct, frozen=True):
    """The text of a setting: of one fault or check (`http.status type`), or of all with a name."""

    setting: str
    text: str


KEYS: MappingProxyType[str, KeyWords] = table("harness.schema", "keys.tsv", KeyWords)
SETTINGS: MappingProxyType[str, SettingWords] = table(
    "harness.schema", "settings.tsv", SettingWords
)


def key_text(struct: str, key: str) -> str:
    """Return the text of a struct's key. Raises LookupError for a key without a row."""
    return KEYS[f"{struct}.{key}"].text


def setting_text(part: str, setting: str, docstring: str, is_own: bool) -> str:
    """Return the text of a setting of a fault or a check.

    Its own row comes first, and for a part of ours the row of all settings with this name. Without
    a row its text is the sentence of the docstring that names it.
    """
    row = SETTINGS.get(f"{part} {setting}") or (SETTINGS.get(setting) if is_own else None)
    if row is not None:
        return row.text
    sentences = re.split(r"(?<=[.;:])\s+", " ".join(docstring.split()))
    named = [sentence for sentence in sentences if f"`{setting}`" in sentence]
    return named[0] if named else f"A setting of {part}."
