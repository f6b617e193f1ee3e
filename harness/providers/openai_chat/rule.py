"""A rule of the table: its fields, and the dialects that there are."""

from __future__ import annotations

import msgspec

from harness.providers.openai_chat.errors import INVALID

OFFICIAL = frozenset({"openai-chat"})
STRICT = frozenset({"strict"})
CHECKED = OFFICIAL | STRICT
ALL = CHECKED | frozenset({"lenient"})

DIALECTS = tuple(sorted(ALL))


class Rule(msgspec.Struct, frozen=True):
    """One refusal: `text` and `param` are templates, filled in by name (`n` message, from 0)."""

    id: str
    dialects: frozenset[str]
    known: str
    source: str
    text: str
    param: str = ""
    code: str = ""
    status: int = 400
    type: str = INVALID
