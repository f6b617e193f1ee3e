"""What `harness explain` says of confirmed findings on public agents.

By the name of one, of an agent, or of a code that it shows.
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
    """The names of the findings, and of the targets that have some."""
    found = field_findings()
    named = {*found, *(row.target for row in found.values())}
    return {f"{FIELD_PREFIX}{name}" for name in named}


def field_text(code: str) -> str:
    """The text of a finding, or the list of a target's; `field/` lists all of them.

    Raises InputError for a name that neither has.
    """
    name, found = code.removeprefix(FIELD_PREFIX), field_findings()
    if name in found:
        return _text(code, found[name])
    listed = {each: row for each, row in found.items() if name in ("", row.target)}
    if not listed:
        raise InputError(f"no such finding or target; {nearest(code, field_names())}", code)
    return "\n".join(_lines(listed))


def seen_in_the_field(code: str) -> Iterator[str]:
    """What was found in public agents that a code is about; nothing for most codes."""
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
        f"With it: {row.scenario}, which shows {', '.join(row.codes)}.",
        f"Why it is wrong: {row.reason}",
        f"Public report: {row.issue}" if row.issue else "No public report was found.",
    ]
    return "\n\n".join(parts)
