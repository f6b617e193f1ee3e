"""Public incidents: bytes, clock, parallel results."""

from __future__ import annotations

from types import MappingProxyType

from harness.catalogue.incident import Incident

INCIDENTS = MappingProxyType(
    {
        183: Incident(
            (
                "musistudio/claude-code-router#1672; danielmiessler/Fabric#2203; "
                "api7/aisix#111; xberg-io/liter-llm#152"
            ),
            "CJK/emoji turn to U+FFFD, or the stream aborts",
            "each network chunk decoded on its own",
            "multi-byte character over two chunks",
            ("chunking_neutral", "wellformed_text"),
        ),
        184: Incident(
            "praxis-proxy/praxis#739",
            "events buffered for ever",
            "parser knew only LF LF and `data: ` with a space",
            "CRLF, CR, no space",
            ("chunking_neutral",),
        ),
        185: Incident(
            "NousResearch/hermes-agent#109736; gabrielkoerich/orch#3491",
            "live stream killed after laptop sleep; healthy model put on cooldown",
            "wall clock counts suspend time",
            '3 370 s "stale" = 3 358 s asleep',
            ("bounded_wait", "no_false_stop"),
        ),
        186: Incident(
            (
                "huggingface/smolagents#2457; openai/openai-agents-python#2580; "
                "smallest-inc/smallest-python-sdk#118"
            ),
            'one failed parallel call loses all results; or its error has id "" and empty text',
            "first exception leaves the gather loop",
            "k parallel calls, one raises",
            ("history_faithful", "tool_pairing", "effect_once"),
        ),
        187: Incident(
            "mattpocock/sandcastle#568",
            "generic exit 1 behind a gateway",
            "200 with empty or malformed body",
            "HTTP 200, not JSON",
            ("truthful_outcome",),
        ),
    }
)
