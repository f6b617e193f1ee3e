"""Public incidents: wrong things retried, too often, or not at all."""

from __future__ import annotations

from types import MappingProxyType

from harness.catalogue.incident import Incident

INCIDENTS = MappingProxyType(
    {
        100: Incident(
            "Yeachan-Heo/gajae-code#1655",
            "refusal retried for ever",
            'refusal mapped to "unknown" = unbounded class',
            "stop_reason refusal",
            ("no_blind_resend", "retry_budget"),
        ),
        101: Incident(
            (
                "NousResearch/hermes-agent#43084, #43108; romp-on/romp#540; "
                "vectorize-io/hindsight#3698"
            ),
            "refusal retried 3x / 12x / 2x4",
            'empty content = "invalid response"; new error record = new episode',
            "200, content [], refusal",
            ("no_blind_resend",),
        ),
        102: Incident(
            "BerriAI/litellm#23546",
            "same model hammered hundreds of times per second",
            "client-side ValueError in fallback not seen as terminal",
            "param not mappable",
            ("no_blind_resend", "backoff"),
        ),
        103: Incident(
            "earendil-works/pi#4991 (#4666, #4945)",
            "stuck for days on monthly limit",
            "SDK obeys retry-after counted in days; two retry layers",
            "429 + huge retry-after",
            ("bounded_wait", "retry_budget"),
        ),
        104: Incident(
            "BerriAI/litellm#2620",
            "retries multiply",
            "router and completion both retry",
            "any 5xx",
            ("retry_budget",),
        ),
        105: Incident(
            "anthropics/claude-code#48286",
            "turn restarts 31x",
            "drop during thinking restarts from scratch, tools included",
            "stream cut in thinking",
            ("retry_budget", "effect_once"),
        ),
        106: Incident(
            "n8n-io/n8n#37779",
            "node retry wipes tool history, budget resets",
            "generic retry wraps the agent's own limit error",
            "maxIterations error",
            ("retry_budget", "bounded_turn"),
        ),
        107: Incident(
            "nicobailon/pi-subagents#436",
            "whole task rerun on another model",
            '"timed out" text of a *tool* read as provider failure',
            "tool error text",
            ("error_origin", "effect_once"),
        ),
        108: Incident(
            "BerriAI/litellm#6532, #6957, #5512",
            "no fallback on overloaded streams",
            "error arrives as SSE event after 200",
            "overloaded_error in stream",
            ("stream_error_handled",),
        ),
        109: Incident(
            "openai/codex#19440, #22472, #38000",
            "reconnect 5/5 then again",
            "stream ends before response.completed",
            "EOF without terminal event",
            ("bounded_wait", "retry_budget"),
        ),
        110: Incident(
            "cline/cline#5645",
            "empty response needs manual resume",
            "no handling of empty assistant message",
            "content empty",
            ("empty_turn_handled",),
        ),
        111: Incident(
            "lsdefine/GenericAgent#225 (#201)",
            "empty reply retried to the cap",
            "no consecutive-empty counter",
            "content empty",
            ("empty_turn_handled",),
        ),
        112: Incident(
            "pydantic/pydantic-ai#2469, #2556",
            "thinking-only reply raises",
            "only thinking parts",
            "no text/tool part",
            ("empty_turn_handled",),
        ),
        113: Incident(
            "cline/cline#713",
            "user must guess when to retry; a fork retries every 5 s",
            "no use of retry-after",
            "429",
            ("backoff",),
        ),
    }
)
