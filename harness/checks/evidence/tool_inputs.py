"""Whether the input that ran is the input of the call, read as the tool's schema says.

A framework validates an input before it runs a tool: it fills in defaults, and converts what the
schema allows (pydantic: "1" for an integer, a text that holds the JSON of a list). Nothing that the
model said is lost by that. A name that the model gave and that did not arrive is a change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import takewhile
from typing import Any

from harness.core.values.messages import Json, Message, canonical
from harness.core.values.visible_text import SHOWN, abridged

_UNPARSED = "__unparsedToolInput"
"""The key under which some clients pass on an input that was cut in transit."""


def plain(value: Json) -> Json:
    """An input with the spellings of nothing (`null`, `""`) as `{}`."""
    return {} if value is None or value == "" else value


def is_empty(value: Json) -> bool:
    """Whether an input is empty: `{}`, `""`, null, or cut in transit."""
    return plain(value) == {} or (isinstance(value, dict) and set(value) == {_UNPARSED})


def readings(value: Json) -> dict[str, Json]:
    """The input as the answer gives it, and as Python reads a text that strict readers refuse.
    `NaN` is not JSON, but some clients accept it."""
    found = {canonical(plain(value)): plain(value)}
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            read = plain(json.loads(value))
            found[canonical(read)] = read
    return found


_HALF = re.compile("[\ud800-\udfff]|\\\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
"""Half of a surrogate pair, raw or as a history keeps it. No UTF-8 can carry it, so an agent takes
it out or puts a mark in its place."""

_MARKED = re.compile("[\ud800-\udfff?\ufffd]|\\\\u[dD][89a-fA-F][0-9a-fA-F]{2}")

_DEEPEST = 100
"""Below this depth values are compared as they are."""


def same_input(given: Json, ran: Json, schema: Mapping[str, Any]) -> bool:
    """Whether a tool ran with an input as the model gave it, under the schema of the tool."""
    return _Reading(schema).same(given, ran, schema)


def is_as_given(given: Json, ran: Json, schema: Mapping[str, Any]) -> bool:
    """Whether a tool ran with an input: the same one, or the same as the schema reads it. The
    spellings of nothing are one input."""
    given, ran = plain(given), plain(ran)
    return canonical(given) == canonical(ran) or same_input(given, ran, schema)


def differences(found: Json, wanted: Json) -> str:
    """The names at which two objects differ, each with both values, after a colon; "" for other
    values."""
    if not isinstance(found, dict) or not isinstance(wanted, dict):
        return ""
    names = sorted(found.keys() | wanted.keys())
    entries = ((n, _entry(found, n), _entry(wanted, n)) for n in names)
    return ": " + ", ".join(f"{n} ({_apart(a, b)})" for n, a, b in entries if a != b)


def _entry(value: dict[str, Json], name: str) -> str:
    return canonical(value[name]) if name in value else "nothing"


def _apart(one: str, other: str) -> str:
    """Two texts from where they begin to differ."""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    at = max(0, sum(1 for _ in alike) - 10)
    lead = "…" if at else ""
    return ", not ".join(lead + abridged(text[at:], SHOWN) for text in (one, other))


class _Reading:
    """Compares under one schema, whose `$defs` its parts may name."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def same(self, given: Json, ran: Json, schema: Any, depth: int = 0) -> bool:
        # Python's True equals 1, and a tool that asked for a count does not take a yes for it.
        if depth > _DEEPEST or type(given) is type(ran) is bool:
            return bool(given == ran)
        if isinstance(given, str) and isinstance(ran, str) and _same_text(given, ran):
            return True
        if _is_number(given) and _is_number(ran):
            return bool(given == ran)
        forms = self._forms(schema, depth)
        if isinstance(given, dict) and isinstance(ran, dict):
            return any(self._same_object(given, ran, form, depth) for form in forms)
        if isinstance(given, list | tuple) and isinstance(ran, list | tuple):
            pairs = list(zip(given, ran, strict=False))
            return len(given) == len(ran) and any(
                all(self.same(a, b, form.get("items"), depth + 1) for a, b in pairs)
                for form in forms
            )
        if given is None and ran is None:
            return True
        return any(self._is_converted(given, ran, form, depth) for form in forms)

    def _same_object(
        self, given: dict[str, Json], ran: dict[str, Json], form: Mapping[str, Any], depth: int
    ) -> bool:
        known, required = _object(form.get("properties")), form.get("required") or ()
        other = form.get("additionalProperties")
        names = {_cleaned(name): name for name in given}
        left = dict(given)
        for name, value in ran.items():
            own = name if name in given else names.get(_cleaned(name), name)
            part = known.get(own, other)
            if own in left:
                if not self.same(left.pop(own), value, part, depth + 1):
                    return False
            elif own in required or not self._is_default(value, part, depth):
                return False
        return all(v is None and n in known and n not in required for n, v in left.items())

    def _is_default(self, value: Json, schema: Any, depth: int) -> bool:
        """Whether a value may stand for a missing one: its default, nothing, or defaults alone."""
        if not isinstance(schema, Mapping):
            return False
        forms = self._forms(schema, depth)
        stated = [f["default"] for f in (schema, *forms) if "default" in f]
        if any(self.same(default, value, schema, depth + 1) for default in stated):
            return True
        if isinstance(value, dict) and depth < _DEEPEST:
            return any(self._same_object({}, value, f, depth + 1) for f in forms if f)
        return value is None and not stated

    def _is_converted(self, given: Json, ran: Json, form: Mapping[str, Any], depth: int) -> bool:
        """Whether a value became a value of the schema: an option in its case, or another type."""
        if isinstance(ran, str) and isinstance(given, str):
            options = form.get("enum") or ()
            return ran in options and given.strip().casefold() == ran.casefold()
        if not _is_of(ran, form.get("type")):
            return False
        if isinstance(ran, str):
            return isinstance(given, bool | int | float) and ran.casefold() in _spellings(given)
        if isinstance(given, str):
            with suppress(ValueError, RecursionError):
                read = json.loads(given.strip().lower() if isinstance(ran, bool) else given)
                return self.same(read, ran, form, depth + 1)
        if isinstance(ran, bool):
            return _is_number(given) and bool(given == ran)
        if isinstance(ran, list | tuple) and len(ran) == 1:
            return self.same(given, ran[0], form.get("items"), depth + 1)
        return False

    def _forms(self, schema: Any, depth: int) -> list[Mapping[str, Any]]:
        """The schemas without references and alternatives; an unknown one is `{}`."""
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            return [{}]
        name = schema.get("$ref")
        if isinstance(name, str):
            found: Any = self._root
            for part in name.removeprefix("#").strip("/").split("/") if name != "#" else ():
                found = _object(found).get(part)
            return self._forms(found, depth + 1)
        parts = [p for key in ("anyOf", "oneOf", "allOf") for p in schema.get(key) or ()]
        forms = [form for part in parts for form in self._forms(part, depth + 1)]
        return [*forms, schema] if forms else [schema]


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _spellings(value: Json) -> set[str]:
    return {str(value).casefold(), json.dumps(value).casefold()}


_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "array": (list, tuple),
    "object": dict,
}


def _is_of(value: Json, kinds: Any) -> bool:
    """Whether a value is of a type of a schema, or of one of its types."""
    names = [kinds] if isinstance(kinds, str) else kinds or ()
    found = {name for name in names if isinstance(value, _TYPES.get(name, ()))}
    return bool(found - {"integer", "number"} if isinstance(value, bool) else found)


def _cleaned(text: str) -> str:
    return _HALF.sub("", text)


def _same_text(given: str, ran: str) -> bool:
    """Whether two texts are equal, without the halves of characters that the model said."""
    if given == ran:
        return True
    if _HALF.search(given) is None:
        return False
    return _MARKED.sub("", given) == _MARKED.sub("", ran)


_NEVER_WHOLE = re.compile(
    r"\b(?:not|never|before|without|incomplete|unfinished|partial|brok|cut|lost|answer|response|stream"
    r"|connection|invalid)|n't|[^\x00-\x7f]",
    re.IGNORECASE,
)
"""How a result says that its call was not run, or came in part; another language is not read."""


def kept_as_run(part: Message, rows: Iterable[tuple[int, Message]]) -> tuple[int, str] | None:
    """The event that keeps a call of an answer that broke off, and its result, if that reads as if
    the call had run. "Interrupted." says so of a call that was whole."""
    calls = {use.id for use in part.tool_uses}
    told = [(n, r.text) for n, row in rows for r in row.tool_results if r.id in calls]
    return next(((n, text) for n, text in told if not _NEVER_WHOLE.search(text)), None)
