"""What is known of the Anthropic Messages API: its record, its rules, its errors, its odd bytes.

The rules (`rules.tsv`) V1 to V31 come from public threads; V32 and up are schema errors. V15 to V20
and V25 need a known model, V15 to V17 our own signature. V18 is on for gateways only: scripts
decide on thinking. Thread and summary codes are the official SDK's, the texts ours. On the first
three, the SDK resends all as a new thread; on `thread_unsupported_request` it drops threads. A call
is decided at once, so only faults say `thread_continue_in_flight` and
`compaction_too_many_tool_references`.

`errors.tsv` has the errors that an agent loop meets. Class and retries are measured on the official
Python SDK 2.11, which retries by status alone. It even retries the 429 of a spend limit, which
fails until the month ends.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.providers.anthropic.models import fits
from harness.providers.shared.provider import traits_of
from harness.providers.shared.record import read_record
from harness.providers.shared.rules import ErrorTable, RuleTable, table_rows
from harness.providers.shared.sse import frame

RECORD = read_record(__package__)
"""The core's stop reasons are this provider's. An invoked model of Bedrock and a raw prediction of
Vertex speak the same API."""

WORDS = ErrorTable((__package__, "error_words.tsv"))
own = WORDS.own

TABLE = RuleTable(RECORD, __package__, fits=fits, words=WORDS)
rules_of, violation = TABLE.active, TABLE.violation

_ROWS = table_rows(__package__, "errors.tsv")

STATUS = {row["type"]: int(row["status"]) for row in reversed(_ROWS) if row["type"]}
"""The status that goes with an error's type: that of its first row."""


def _error_event(error: ApiError) -> bytes:
    return frame("error", error={"type": error.type, "message": error.message})


def _outline(body: Mapping[str, Json]) -> bytes:
    return frame("message_start", message=body) + frame("message_stop")


TRAITS = traits_of(
    RECORD,
    own,
    arguments="object",
    other_model="claude-haiku-4-5-20251001",
    names_events=True,
    reads_past_the_end=True,
    error_event=_error_event,
    outline=_outline,
)
