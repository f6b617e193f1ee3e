"""Public incidents: caps that are not enforced, or misreported."""

from __future__ import annotations

from types import MappingProxyType

from harness.catalogue.incident import Incident

INCIDENTS = MappingProxyType(
    {
        177: Incident(
            "crewAIInc/crewAI#3847, #1656",
            "loop continues past max_iter",
            "break lost in a refactor; one-shot flag",
            "limit reached",
            ("bounded_turn",),
        ),
        178: Incident(
            "n8n-io/n8n#22771, #20890",
            "limit reached = success output",
            "limit text returned as an answer",
            "limit reached",
            ("truthful_outcome",),
        ),
        179: Incident(
            "n8n-io/n8n#21081",
            "off-by-one / ignored limit in V3",
            "new execution path",
            "—",
            ("bounded_turn",),
        ),
        180: Incident(
            "ag2ai/ag2#600",
            "cap ignored for recipient",
            "counter on one side only",
            "—",
            ("bounded_turn",),
        ),
        181: Incident(
            "langchain-ai/langchain#336, #2323",
            "endless ReAct loops (2022-23)",
            "no cap existed",
            "tool error loop",
            ("bounded_turn",),
        ),
        182: Incident(
            "OpenHands/OpenHands#5480, #7183",
            'after "stuck in loop" nothing works',
            "stuck state never cleared",
            "next user message",
            ("session_heals",),
        ),
    }
)
