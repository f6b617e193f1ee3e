"""Texts of `harness explain` on confirmed findings in public agents.

They are found by the name of a finding, of an agent, or of a finding's code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from harness.catalogue import FIELD_PREFIX, field_findings
from harness.core.values.errors import InputError, nearest

if TYPE_CHECKING:
    from harness.catalogue import FieldFinding

RULES = "valid_request"


def field_names() -> set[str]:
    """Return the names of the findings, and of the targets that have findings."""
    found = field_findings()
    named = {*found, *(row.target for row in found.values())}
    return {f"{FIELD_PREFIX}{name}" for name in named}


def field_text(code: str) -> str:
    """Return the text of a finding, or the list of a target's findings; `field/` lists all.

    Raises InputError for an unknown name.
    """
    name, found = code.removeprefix(FIELD_PREFIX), field_findings()
    if name in found:
        return _text(code, found[name])
    listed = {each: row for each, row in found.items() if name in ("", row.target)}
    if not listed:
        raise InputError(f"no such finding or target; {nearest(code, field_names())}", code)
    return "\n".join(_lines(listed))


def seen_in_the_field(code: str) -> Iterator[str]:
    """Return the findings in public agents that have a code; nothing for most codes."""
    rule = f"{RULES}.{code.rpartition('.')[2]}"
    listed = {n: row for n, row in field_findings().items() if row.shows(code) or row.shows(rule)}
    if listed:
        yield "\n".join(["Confirmed in agents that people run:", *_lines(listed)])


def _lines(found: Mapping[str, FieldFinding]) -> Iterator[str]:
    for name, row in found.items():
        yield f"  {FIELD_PREFIX}{name}  ({row.version}, {row.class_}): {row.title}"


def _text(code: str, row: FieldFinding) -> str:
    gone = f", gone in {row.fixed_in}" if row.fixed_in else ""
    parts = [
        f"{code}  ({row.class_} of {row.target} {row.version}, {row.language}{gone})",
        f"{row.title}.",
        row.what.strip(),
        f"Expected: {row.expected.strip()}",
        f"Observed: {row.observed.strip()}",
        f"Repeat it without the harness: {row.repeat}",
        f"With the harness: {row.scenario}, which shows {', '.join(row.codes)}.",
        f"Why it is wrong: {row.reason}",
        f"Public report: {row.issue}" if row.issue else "No public report was found.",
    ]
    return "\n\n".join(parts)
