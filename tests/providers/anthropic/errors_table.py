"""The errors that an agent loop meets, as rows: what the official SDK makes of each."""

from __future__ import annotations

import msgspec

from harness.providers.shared.rules import table_rows


class ErrorRow(msgspec.Struct, frozen=True):
    """One error. `type` is "" where the answer comes from a proxy and has no envelope."""

    status: int
    type: str
    code: str
    sdk_class: str
    retried: bool


ERRORS = msgspec.convert(
    table_rows("harness.providers.anthropic", "errors.tsv"), list[ErrorRow], strict=False
)
"""Every error, the coded ones last; the first row of a type has the status that goes with it."""
