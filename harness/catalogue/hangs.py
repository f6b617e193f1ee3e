"""Public incidents: nothing bounds the wait."""

from __future__ import annotations

from types import MappingProxyType

from harness.catalogue.incident import Incident

INCIDENTS = MappingProxyType(
    {
        122: Incident(
            "earendil-works/pi#8331",
            "4 sessions frozen 25-109 min, Esc dead",
            "event-level silence, pings keep bytes flowing",
            "stalled SSE",
            ("bounded_wait", "cancel_honoured"),
        ),
        123: Incident(
            "QwenLM/qwen-code#4177; esengine/DeepSeek-Reasonix#3745",
            "frozen spinner until kill -9",
            "no idle timeout on the body",
            "half-open TCP",
            ("bounded_wait",),
        ),
        124: Incident(
            "microsoft/vscode#321432",
            "turn 4 of 4 never returns",
            "no idle timeout in SSE loop (proxy log proves it)",
            "200 + headers then silence",
            ("bounded_wait",),
        ),
        125: Incident(
            "shiaho777/web-to-app#438",
            '10 min silence, then "clean finish"',
            "socket exception swallowed, flow completes",
            "partial then silence",
            ("bounded_wait", "truthful_outcome"),
        ),
        126: Incident(
            "tinyhumansai/openhuman#4393",
            "research agent hangs",
            "per-chunk timeout missing; [DONE] lingered",
            "stall",
            ("bounded_wait",),
        ),
        127: Incident(
            "anthropics/claude-code#15945",
            "16 h (a comment: 33 h) hang",
            "MCP call without timeout",
            "tool never returns",
            ("tool_bounded",),
        ),
        128: Incident(
            "strands-agents/harness-sdk#4403",
            "agent.cancel() useless",
            "timeout never reaches the waiter; executor ignores cancel",
            "tools/call then silence",
            ("tool_bounded", "cancel_honoured"),
        ),
        129: Incident(
            "OpenHands/OpenHands#9776; HKUDS/nanobot#950; HolmesGPT/holmesgpt#1916",
            "stall on MCP timeout/restart",
            "error not turned into an observation / no timeout",
            "McpError",
            ("tool_bounded",),
        ),
        130: Incident(
            "anthropics/claude-code#59243; anthropics/claude-agent-sdk-python#701",
            "15-30 min between last tool and result",
            "CLI alive, no connections",
            "silence before ResultMessage",
            ("bounded_wait",),
        ),
        131: Incident(
            "anthropics/claude-agent-sdk-python#387",
            "60 s wait for a dead CLI",
            "reader error not passed to pending waiters",
            "process exit 1",
            ("fail_fast",),
        ),
        132: Incident(
            "anthropics/claude-code#59920",
            "silent 10+ min after is_error result",
            "wedged after error result",
            "tool_result is_error",
            ("bounded_wait",),
        ),
    }
)
