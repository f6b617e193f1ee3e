"""Public incidents: hooks, heartbeats and timers that restart the loop."""

from __future__ import annotations

from types import MappingProxyType

from harness.catalogue.incident import Incident

INCIDENTS = MappingProxyType(
    {
        92: Incident(
            "openai/codex#34477",
            "hook_prompt messages loop",
            "stop hook injects a message each stop",
            "synthetic user message after each end_turn",
            ("bounded_turn", "budget_ceiling"),
        ),
        93: Incident(
            "thedotmack/claude-mem#3161, #1288",
            "endless wake/stop",
            "hook exit 2 when its worker is down; `continue:true`",
            "stop blocked",
            ("bounded_turn",),
        ),
        94: Incident(
            "Yeachan-Heo/oh-my-claudecode#2652",
            'stale state keeps "mode active"',
            "state not cleaned after crash",
            "stop hook",
            ("bounded_turn", "resume_bounded"),
        ),
        95: Incident(
            "openclaw/openclaw#86324, #137904",
            "heartbeat repeats its own reply tool",
            "first valid response does not end the turn",
            "identical heartbeat_respond",
            ("no_progress_stop",),
        ),
        96: Incident(
            "openclaw/openclaw#67308, #64293",
            "tokens burnt with no user",
            "heartbeat ignores config, full context each time",
            "timer",
            ("budget_ceiling",),
        ),
        97: Incident(
            "openclaw/openclaw#22320, #10061",
            "heartbeats double/triple",
            "queued timers all fire when idle; N instances each run it",
            "duplicate internal events",
            ("inbound_exactly_once",),
        ),
        98: Incident(
            "code-yeongyu/oh-my-openagent#7150",
            '"continue from previous state" 30+ cycles',
            "plugin appends a user turn whenever tail is assistant",
            "synthetic user message",
            ("bounded_turn",),
        ),
        99: Incident(
            "anthropics/claude-code#14229",
            "stop confirmed, keeps spending",
            "cancelled turn continues in background",
            "requests after cancel",
            ("cancel_honoured",),
        ),
    }
)
