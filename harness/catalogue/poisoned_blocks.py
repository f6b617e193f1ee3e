"""Public incidents: rejected for ever, by ids, text, images, thinking or its end."""

from __future__ import annotations

from types import MappingProxyType

from harness.catalogue.incident import Incident

INCIDENTS = MappingProxyType(
    {
        21: Incident(
            "anthropics/claude-code#20901 (#21317, #28515)",
            "every tool run fails after the tool worked",
            ("the client sends the same tool_use twice in one assistant turn (why is not stated)"),
            "duplicate tool_use id",
            ("unique_tool_ids", "truthful_outcome"),
        ),
        22: Incident(
            "BerriAI/litellm#23510",
            "same through proxies",
            "content blocks and tool_calls both converted",
            "duplicate ids",
            ("unique_tool_ids",),
        ),
        23: Incident(
            "bvcyber/Cyber-AutoAgent-ng#72",
            'Bedrock: duplicate ids "http_request"',
            "model mints the tool's name as id",
            "duplicate toolUseId",
            ("unique_tool_ids",),
        ),
        24: Incident(
            "ducks/claux#40",
            "empty or repeated ids accepted, then wedge",
            "no id check in any reader",
            'id "" or repeated',
            ("unique_tool_ids",),
        ),
        25: Incident(
            "anthropics/claude-code#86560 (#5934, #6273, #3277)",
            "400 not valid JSON; /compact fails too",
            "lone surrogate in a tool result",
            "`\\ud83d` alone",
            ("wellformed_text", "session_heals"),
        ),
        26: Incident(
            "anthropics/claude-code#68325",
            "same, from *model output* (Korean)",
            "tool_use.input contained a lone surrogate",
            "in assistant content",
            ("wellformed_text",),
        ),
        27: Incident(
            "gptme/gptme#185; earendil-works/pi#224",
            "image > 5 MB",
            "tool result accepted more than the API",
            "6 500 712 bytes",
            ("request_fits", "session_heals"),
        ),
        28: Incident(
            "aws/amazon-q-developer-cli#3912",
            "images 3.75-10 MiB lock the session",
            "gate counts raw bytes, API counts base64",
            "base64 > 5 MiB",
            ("request_fits",),
        ),
        29: Incident(
            "damianvtran/local-operator#153; anthropics/claude-code#53547",
            "old accepted image starts failing",
            "crossing 20 images switches the limit from 8000 to 2000 px",
            "21st image",
            ("request_fits",),
        ),
        30: Incident(
            "code-yeongyu/senpi#302; can1357/oh-my-pi#271",
            "413 for ever at 34 % of the token window",
            "bytes, not tokens: 63 images, 101 MiB",
            "HTTP 413, usage 0",
            ("request_fits",),
        ),
        31: Incident(
            "anthropics/claude-code#63404 (#19539, #63203, #64004 ...)",
            "thinking blocks cannot be modified",
            (
                "not stated in the reports (burst at 2.1.152-154); docs name editing, "
                "reordering, filtering, rebuilding"
            ),
            "changed thinking block in last assistant turn",
            ("append_only_prefix",),
        ),
        32: Incident(
            "openclaw/openclaw#58967, #19582",
            "Responses 400 on the 2nd message",
            "reasoning item replayed without its pair",
            "rs_... without following item",
            ("append_only_prefix", "tool_pairing"),
        ),
        33: Incident(
            "XiaomiMiMo/MiMo-Code#1703",
            "prefill 400; first fix silently deleted a real answer",
            "history ends with assistant on resume",
            "trailing assistant message",
            ("ends_with_user",),
        ),
        34: Incident(
            "NousResearch/hermes-agent#2129 (#2128)",
            "same",
            "a filler empty assistant message added for one API leaks to another",
            "trailing empty assistant",
            ("ends_with_user", "nonblank_content"),
        ),
        35: Incident(
            "langchain-ai/deepagents#586; anomalyco/opencode#1295",
            "trailing whitespace 400",
            "text of a sub-agent forwarded raw",
            'final assistant "... "',
            ("ends_with_user",),
        ),
        36: Incident(
            (
                "home-assistant/core#147760; anthropics/claude-code#96152; "
                "danny-avila/LibreChat#13162"
            ),
            "every request 400",
            "MCP tool names with dots, >128 chars, or duplicates",
            "tools.N.custom.name",
            ("valid_request",),
        ),
        37: Incident(
            "NousResearch/hermes-agent#115493",
            "/undo and /retry dead for the session",
            "turn without reply leaves user row; in-memory merge makes live ≠ stored",
            "user;user",
            ("reload_equivalence",),
        ),
    }
)
