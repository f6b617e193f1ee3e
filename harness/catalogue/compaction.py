"""Public incidents: context limits and compaction spirals."""

from __future__ import annotations

from types import MappingProxyType

from harness.catalogue.incident import Incident

INCIDENTS = MappingProxyType(
    {
        38: Incident(
            "anthropics/claude-code#24179",
            "211 compactions in one session",
            "no progress check; 95 % within 10 lines of each other",
            "repeated over-limit",
            ("compaction_progress",),
        ),
        39: Incident(
            "anthropics/claude-code#12556, #6004, #2391, #2038",
            "compact loop, restart from scratch",
            "compact fails with the same 400, prompt re-sent",
            "208 380 > 200 000",
            ("compaction_progress", "no_blind_resend"),
        ),
        40: Incident(
            "anthropics/claude-code#25867",
            "compact request is itself too long",
            "no headroom reserved for the summary call",
            "400 in the compaction call",
            ("compaction_fits",),
        ),
        41: Incident(
            "elidickinson/pi-claude-bridge#18",
            "summary prompt of 1.2 M chars",
            "1 035-message history fed as one prompt",
            'error comes as *result text* "Prompt is too long", usage zero',
            ("compaction_fits", "error_shape"),
        ),
        42: Incident(
            "link-assistant/hive-mind#1842",
            "run ends, exit 1, no recovery",
            (
                "one ~125K-token turn dominates (too_few_groups); refill breaker after 3 rapid "
                "refills"
            ),
            "synthetic assistant message",
            ("session_heals", "request_fits"),
        ),
        43: Incident(
            "anomalyco/opencode#27924, PR 37584",
            '35 compactions in an hour, all "stop"',
            "summary succeeds but does not shrink below the limit; no attempt bound",
            "overflow -> compact -> overflow",
            ("compaction_progress",),
        ),
        44: Incident(
            "anomalyco/opencode#31152",
            'compaction after "hi"',
            "model limit not configured (a comment fixed it by setting the input limit)",
            "overhead > threshold at turn 1",
            ("compaction_progress",),
        ),
        45: Incident(
            "openclaw/openclaw#19764",
            "attempt counter reset each outer loop",
            "guard variable scoped inside loop",
            "prompt injection keeps overflowing",
            ("compaction_progress", "retry_budget"),
        ),
        46: Incident(
            "OpenHands/OpenHands#8630, #10873; OpenHands/software-agent-sdk#1073, #2034",
            "endless condensation",
            "condenser keeps 5, forgets 0; dangling observations",
            "condensation with empty forget set",
            ("compaction_progress",),
        ),
        47: Incident(
            "OpenHands/OpenHands#6357",
            "SWE-bench runs time out",
            "truncation in half breaks agent state",
            "overflow",
            ("compaction_preserves",),
        ),
        48: Incident(
            "aaif-goose/goose#8642, #10402",
            '"limit exceeded even after removing all tool responses" on small chats',
            "wrong window; nothing removable",
            "false overflow",
            ("compaction_progress",),
        ),
        49: Incident(
            "aaif-goose/goose#10500",
            "same oversized prompt sent 5x",
            "0/10/20/50/100 % removal does nothing without tool results",
            "5 identical requests",
            ("no_blind_resend",),
        ),
        50: Incident(
            "aaif-goose/goose#11072",
            "limit hit inside a long tool loop",
            "threshold checked only at turn end",
            "no check between tool rounds",
            ("request_fits",),
        ),
        51: Incident(
            "docker/docker-agent#2235",
            "infinite loop on failed compaction",
            "no guard",
            "overflow repeats",
            ("compaction_progress",),
        ),
        52: Incident(
            "NousResearch/hermes-agent#53008",
            "compressed 12...16 times, 205K->204K",
            "threshold auto-lowered to the aux model's window",
            "every turn",
            ("compaction_progress",),
        ),
        53: Incident(
            "NousResearch/hermes-agent#23811",
            "summary larger than the original",
            "2 000-token floor on summaries",
            "tiny history",
            ("compaction_progress",),
        ),
        54: Incident(
            "NousResearch/hermes-agent#27566",
            "compress each turn",
            "estimate counts tool schemas twice, overcounts 30-50 %",
            "estimate vs real usage",
            ("compaction_progress",),
        ),
        55: Incident(
            "NousResearch/hermes-agent#36624, #61932",
            "no-op compression until overflow",
            "large protected tail",
            "tail > budget",
            ("compaction_progress",),
        ),
        56: Incident(
            "NousResearch/hermes-agent#556",
            "6+ min apparent freeze",
            "compression retries with no backoff, no notice",
            "context error path",
            ("bounded_wait", "progress_visible"),
        ),
        57: Incident(
            "NousResearch/hermes-agent#90251",
            '"Cannot compress further" at 11 K tokens',
            "bail-out fires when everything is incompressible floor",
            "fresh cron session",
            ("truthful_outcome",),
        ),
        58: Incident(
            "RooCodeInc/Roo-Code#2725",
            "endless retry at max context, cancel disabled",
            "overflow treated as transient after model switch",
            "400 context",
            ("no_blind_resend", "cancel_honoured"),
        ),
        59: Incident(
            "BerriAI/litellm#22697",
            "overflow retried",
            "exception is a subclass of a retryable base",
            "400 context",
            ("no_blind_resend",),
        ),
        60: Incident(
            "QwenLM/qwen-code#4049; aaif-goose/goose#1988; oguzbilgic/kern-ai#20",
            "one tool output ends the session",
            "no central output cap (1.94 M chars; 1.46 M tokens in anomalyco/opencode#4826)",
            "huge tool_result",
            ("request_fits",),
        ),
        61: Incident(
            "mksglu/context-mode#1173",
            "compaction loop with a plugin",
            "not visible in the excerpt",
            "repeated compaction",
            ("compaction_progress",),
        ),
    }
)
