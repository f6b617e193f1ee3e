"""The errors that an agent loop meets: status, type, code, SDK class and SDK retries.

Class and retries are measured on the official Python SDK 2.11, which retries by status alone. It
even retries the 429 of a spend limit, which fails until the month ends.
"""

from __future__ import annotations

import msgspec

from harness.providers.shared.error_words import ErrorTable
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

WORDS = ErrorTable((__package__, "error_words.tsv"))
own = WORDS.own

STATUS = {row.type: row.status for row in reversed(ERRORS) if row.type}
"""The status that goes with an error's type."""
