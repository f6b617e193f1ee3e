"""Addresses: what a path and a query say in place of a request's body.

Most APIs have one address, and all fields stand in the body. Some name the model in the path, or
have its own path for streams. Then the address completes the body, so that readers and rules find
each field in one place. A host that offers another provider's models has addresses of its own.

Most providers keep theirs in a table, `addresses.tsv`. Of two rows that fit, the first one counts.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal
from urllib.parse import parse_qsl, unquote

import msgspec

from harness.core.values.messages import Json
from harness.core.values.table_file import table

_NAME = re.compile(r"\\{(\w+)\\}")


class Address(msgspec.Struct, frozen=True):
    """A kind of address at which an API is spoken.

    `path` is the end of the path; `{model}` stands for one segment of it, and is a field by that
    name. Any other `{name}` is a segment that says nothing. `query` are parameters that the query
    must have. `says` are more fields of the body that the address stands for.

    `host` names the platform whose address it is, "" for the provider's own and for gateways.
    A `live` call may come there; every other address is known in recordings alone. `operation` is
    what is asked: a `reply`, a `count` of tokens, or a reply in a form that is only `read`.
    """

    path: str
    query: tuple[tuple[str, str], ...] = ()
    says: dict[str, Json] = {}
    host: str = ""
    live: bool = False
    operation: Literal["reply", "count", "read"] = "reply"

    def fields(self, path: str, query: str) -> dict[str, Json] | None:
        """The fields that an address of this kind says, None for any other address."""
        found = shape(self.path).search(path)
        if found is None or not set(self.query) <= set(parse_qsl(query)):
            return None
        named = found.groupdict().get("model")
        return {**self.says, **({"model": unquote(named)} if named else {})}


def addresses(package: str) -> tuple[Address, ...]:
    """The rows of a provider's table."""
    return tuple(table(package, "addresses.tsv", Address).values())


@cache
def shape(path: str) -> re.Pattern[str]:
    """The pattern of paths that end like this one; `{name}` is one segment, or its beginning."""
    escaped = re.escape(path)
    return re.compile(_NAME.sub(r"(?P<\1>[^/]+)", escaped) + "$")


def with_fields(body: bytes, fields: dict[str, Json]) -> bytes:
    """A JSON object with these fields at its end, where they win; any other body unchanged."""
    text = body.rstrip()
    if not fields or not text.endswith(b"}") or not text.lstrip().startswith(b"{"):
        return body
    before = text[:-1].rstrip()
    comma = b"" if before.lstrip() == b"{" else b","
    return before + comma + msgspec.json.encode(fields)[1:]
