"""Public incidents: persistence."""

from __future__ import annotations

from types import MappingProxyType

from harness.catalogue.incident import Incident

INCIDENTS = MappingProxyType(
    {
        162: Incident(
            "NousResearch/hermes-agent#1744 (#1193)",
            "blank history",
            "json.loads on torn last line",
            "kill mid-append",
            ("torn_tail_ok",),
        ),
        163: Incident(
            "PrimeIntellect-ai/prime-agent#1785",
            "next entry lost too",
            "append glued to the fragment (no newline repair)",
            "resume after torn tail",
            ("torn_tail_ok", "no_silent_loss"),
        ),
        164: Incident(
            "anthropics/claude-code#53821, #50347, #49876",
            "resume blank, or cut at first bad line / NUL run",
            "parser stops at the first bad line",
            "power loss, ext4 NUL padding",
            ("torn_tail_ok", "no_silent_loss"),
        ),
        165: Incident(
            "genai-io/gen-code#364",
            "one torn record kills the session",
            "read path stricter than write path",
            "crash mid-append",
            ("torn_tail_ok",),
        ),
        166: Incident(
            "github/copilot-cli#2490",
            "unresumable session",
            "raw U+2028 breaks the line reader; 20 MB file",
            "U+2028 in a message",
            ("torn_tail_ok",),
        ),
        167: Incident(
            "mem0ai/mem0#7196; docker/docker-agent#544; openai/openai-agents-python#2854",
            "database is locked",
            "no WAL, no busy timeout",
            "two sessions",
            ("no_silent_loss",),
        ),
        168: Incident(
            "fitchmultz/pi-cursor-sdk#150; obot-platform/obot#6133; zai-org/feedback#625",
            "locked in spite of WAL + 5 s",
            "one long writer (blob, prune) > timeout",
            "3-9 sessions",
            ("no_silent_loss",),
        ),
        169: Incident(
            "NousResearch/hermes-agent#3180 (#3139)",
            "feature off for the rest of the session",
            "transient lock sets db = None",
            "lock at start",
            ("no_silent_loss",),
        ),
        170: Incident(
            "fujibee/agmsg#114",
            "1 of 4 jobs delivered",
            "busy_timeout 0",
            "concurrent writers",
            ("no_silent_loss",),
        ),
        171: Incident(
            "MoonshotAI/kimi-code#2902",
            "crash mid tool call",
            "ENOSPC from append unhandled",
            "disk full",
            ("store_error_handled",),
        ),
        172: Incident(
            "NousResearch/hermes-agent#45110",
            "prompt lost with the turn",
            "user row committed with the first complete reply",
            "stall or disconnect",
            ("durable_first",),
        ),
        173: Incident(
            "NousResearch/hermes-agent#41696",
            "turn lost in crash",
            "incomplete turn not persisted",
            "kill mid-turn",
            ("durable_first",),
        ),
        174: Incident(
            "openclaw/openclaw#52362",
            "reply shown, not stored",
            "other code path writes an error row instead",
            "reload",
            ("deliver_implies_durable",),
        ),
        175: Incident(
            "openclaw/openclaw#144392, #69973, #132758",
            "history silently dropped",
            "failed resume falls back to a fresh session without notice",
            "AbortError on resume",
            ("history_faithful", "truthful_outcome"),
        ),
        176: Incident(
            "vellum-ai/vellum-assistant#39909",
            "486 duplicate rows",
            "one append per tool result + finalise",
            "multi-tool turn",
            ("reload_equivalence",),
        ),
    }
)
