"""Public incidents: outbound duplicates and losses."""

from __future__ import annotations

from types import MappingProxyType

from harness.catalogue.incident import Incident

INCIDENTS = MappingProxyType(
    {
        133: Incident(
            "NousResearch/hermes-agent#81052",
            "reply twice on slow turns",
            '"streamed?" flag false -> manual send + normal send',
            "slow turn",
            ("outbound_once",),
        ),
        134: Incident(
            "NousResearch/hermes-agent#95369",
            "tail repeated",
            'delivery failed, generation complete: re-send and "continue" prompt',
            "socket drop at delivery",
            ("outbound_once", "error_origin"),
        ),
        135: Incident(
            "NousResearch/hermes-agent#25349, #74248, #4647, #53449, #55806, PR 79592",
            "duplicates on Discord/Signal/Telegram",
            "two delivery paths without one identity; no message id; flood wait",
            "chunked send, RetryAfter 202 s",
            ("outbound_once",),
        ),
        136: Incident(
            "marmot-protocol/mdk#1088",
            "partial + full both durable",
            "stream finalise vs fallback",
            "1-9 s apart",
            ("outbound_once",),
        ),
        137: Incident(
            "HKUDS/nanobot#4038",
            "prefix shown twice",
            "stream retried after deltas were shown",
            "mid-stream error",
            ("outbound_once",),
        ),
        138: Incident(
            "zirkelc/ai-retry#51",
            "fallback output lost",
            "second stream-start breaks consumer",
            "retry before content",
            ("outbound_once",),
        ),
    }
)
