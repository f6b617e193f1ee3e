"""The errors of the API as data: status, type and code, the SDK's class for it, and if it retries.

An agent loop meets these; the other hundred codes belong to endpoints that it does not use. Class
and retries are what the official Python SDK 2.11 does, measured, and its retries go by the status
alone. So it retries the 429 of a spend limit too, which cannot succeed before the month ends.
"""

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


ERRORS = msgspec.convert(table_rows(__package__, "errors.tsv"), list[ErrorRow], strict=False)
"""Every error, the coded ones last; the first row of a type has the status that goes with it."""

STATUS = {row.type: row.status for row in reversed(ERRORS) if row.type}
"""The status that goes with an error's type."""
