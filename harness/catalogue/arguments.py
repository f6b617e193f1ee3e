"""Public incidents: truncated, empty or mangled tool input."""

from __future__ import annotations

from types import MappingProxyType

from harness.catalogue.incident import Incident

INCIDENTS = MappingProxyType(
    {
        114: Incident(
            "NousResearch/hermes-agent#89207",
            "args replaced by {} and executed",
            "repair gives up -> empty object; no retry",
            "JSON cut mid-stream",
            ("args_complete", "error_visible"),
        ),
        115: Incident(
            "NousResearch/hermes-agent#35151",
            "write_file with empty content = success, repeated",
            "same",
            "finish length + broken JSON",
            ("args_complete", "error_visible"),
        ),
        116: Incident(
            "NousResearch/hermes-agent#7680",
            "finish_reason ignored when tool_calls present",
            "length branch only without calls",
            "finish_reason length + tool_calls",
            ("args_complete",),
        ),
        117: Incident(
            "NousResearch/hermes-agent#21030 (#20975)",
            "second truncation identical",
            "retry gives no new guidance",
            "same prompt, same cut",
            ("no_blind_resend",),
        ),
        118: Incident(
            "NousResearch/hermes-agent#83937",
            '"" rejected, retried for ever',
            'gateway emits "" for no-arg tools',
            'arguments ""',
            ("empty_args_ok",),
        ),
        119: Incident(
            "NousResearch/hermes-agent#6841",
            'web_searchweb_search, {"a":1}{"a":1}',
            "deltas without distinct index concatenated",
            "clone stream, index 0",
            ("delta_assembly",),
        ),
        120: Incident(
            "BerriAI/litellm#31634, #12481",
            "premature or wrong finish_reason",
            "translation layer",
            "finish on an intermediate chunk",
            ("delta_assembly",),
        ),
        121: Incident(
            "vectara/py-vectara-agentic#62",
            "loop on an undefined tool",
            "prompt names a tool not offered",
            "unknown tool name",
            ("no_progress_stop",),
        ),
    }
)
