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

import msgspec

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.core.values.provider_traits import ProviderTraits
from harness.providers.anthropic.models import fits
from harness.providers.shared.record import (
    Dialects,
    HeaderNames,
    PictureLimits,
    ProviderRecord,
    Sdk,
    addresses,
)
from harness.providers.shared.rules import ErrorTable, RuleTable, table_rows
from harness.providers.shared.sse import frame

RECORD = ProviderRecord(
    name="anthropic",
    url="https://api.anthropic.com",
    path="/v1/messages",
    path_end="/v1/messages",
    addresses=addresses(__package__),
    hosts=(
        (r"^bedrock-runtime\..+\.amazonaws\.com$", "bedrock"),
        (r"aiplatform\.googleapis\.com$", ""),
    ),
    sdk=Sdk("anthropic", "Anthropic", "AsyncAnthropic", "ANTHROPIC"),
    headers=HeaderNames(
        request_id="request-id",
        rate_limits="anthropic-ratelimit-",
        requests_left="anthropic-ratelimit-requests-remaining",
        identifying=frozenset({"anthropic-version", "x-api-key"}),
        kept=("anthropic-beta", "anthropic-version"),
    ),
    dialects=Dialects(
        ("anthropic-2023", "anthropic-2026", "bedrock", "lenient", "strict"),
        default="anthropic-2026",
        generated=("", "strict", "anthropic-2023", "bedrock"),
        untold=frozenset({"bedrock"}),
    ),
    keep_alive=b'event: ping\ndata: {"type": "ping"}\n\n',
    server_tools=True,
    pictures=PictureLimits(5 * 1024 * 1024, edge_max=8000, edge_max_of_many=2000, many=20),
    models=(
        "claude-fable-5-2",
        "claude-opus-5-5",
        "claude-sonnet-5-5",
        "claude-haiku-5-5",
        "claude-sonnet-5",
        "claude-opus-5",
        "claude-opus-4-8",
        "claude-sonnet-4-6",
        "claude-haiku-4-5",
    ),
)
"""Dialects: `anthropic-2026` is today's API; `anthropic-2023` and `bedrock` are what older models
and endpoints say; `strict` is a gateway or a clone that also refuses what the API forgives;
`lenient` refuses only what it cannot read, or what cannot fit. The core's stop reasons are this
provider's. An invoked model of Bedrock and a raw prediction of Vertex speak the same API."""

TABLE = RuleTable(RECORD, __package__, fits=fits)
rules_of, violation = TABLE.active, TABLE.violation


WORDS = ErrorTable((__package__, "error_words.tsv"))
own = WORDS.own

_ROWS = table_rows(__package__, "errors.tsv")

STATUS = {row["type"]: int(row["status"]) for row in reversed(_ROWS) if row["type"]}
"""The status that goes with an error's type: that of its first row."""


def _error_event(error: ApiError) -> bytes:
    return frame("error", error={"type": error.type, "message": error.message})


def _hollow(model: str, stream: bool) -> tuple[bytes, ...]:
    message = {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": None,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    if not stream:
        return (msgspec.json.encode(message),)
    ending = {"stop_reason": "end_turn", "stop_sequence": None}
    return (
        frame("message_start", message={**message, "stop_reason": None}),
        frame("message_delta", delta=ending, usage={"output_tokens": 1}),
        frame("message_stop"),
    )


def _outline(body: Mapping[str, Json]) -> bytes:
    return frame("message_start", message=body) + frame("message_stop")


TRAITS = ProviderTraits(
    endpoint=RECORD.path.rpartition("/")[2],
    keep_alive=RECORD.keep_alive,
    requests_left=RECORD.headers.requests_left,
    arguments="object",
    own_error=own,
    other_model="claude-haiku-4-5-20251001",
    names_events=True,
    reads_past_the_end=True,
    error_event=_error_event,
    hollow=_hollow,
    outline=_outline,
)
