"""Public incidents: rejected for ever, by unpaired calls or blank content."""

from __future__ import annotations

from types import MappingProxyType

from harness.catalogue.incident import Incident

INCIDENTS = MappingProxyType(
    {
        1: Incident(
            "anthropics/claude-code#1831 (also #5989, #6521, #1237 and dozens of dups)",
            "every prompt answers 400",
            "not stated in these reports; in others: interrupt, crash, bad merge, compaction",
            "assistant tool_use not followed by tool_result",
            ("tool_pairing", "session_heals"),
        ),
        2: Incident(
            "Kilo-Org/kilocode#5163",
            "same, via Vertex",
            "same",
            "ids toolu_vrtx_... without result",
            ("tool_pairing",),
        ),
        3: Incident(
            "openclaw/openclaw#16095 (#15691)",
            "unexpected tool_use_id after compaction",
            "repair inserted synthetic results, compaction then dropped the tool_use side",
            "orphan tool_result",
            ("tool_pairing",),
        ),
        4: Incident(
            "openclaw/openclaw#9868 (#9769 #9724 #9672)",
            "same from pruning",
            "history pruned in chunks without looking at pairs",
            "orphan tool_result",
            ("tool_pairing",),
        ),
        5: Incident(
            "earendil-works/pi#4570",
            '400 "No tool call found for function call output"',
            "two chained compactions: inner cut keeps an output whose call is outside",
            "orphan function_call_output",
            ("tool_pairing", "compaction_preserves"),
        ),
        6: Incident(
            "vellum-ai/vellum-assistant#39919",
            "compaction itself 400s, ladder repeats the same orphan",
            "front truncation splits a pair; retry ladder deterministic",
            "orphan in the *summary* request",
            ("tool_pairing", "no_blind_resend"),
        ),
        7: Incident(
            "anomalyco/opencode#27594",
            "session stuck after auto-compaction; deleting messages only shifts the orphan id",
            "second compaction trigger without tail marker",
            "tool_use without result in messages.2",
            ("tool_pairing", "session_heals"),
        ),
        8: Incident(
            "openai/codex#22602",
            "thread unusable after interrupt",
            "partial assistant item recorded inline (content null, tool_calls null)",
            "empty assistant message",
            ("nonblank_content", "reload_valid"),
        ),
        9: Incident(
            "superduck-ai/superduck#258",
            "missing tool_call_id after side-panel closed",
            "call persisted before result, no repair on load",
            "tool_calls without tool message",
            ("tool_pairing",),
        ),
        10: Incident(
            "xxynet/KiraAI#118",
            "400 next turn after a plugin stops the event",
            "early return yields fewer results than calls, all calls persisted",
            "k calls, <k results",
            ("tool_pairing",),
        ),
        11: Incident(
            "langgenius/dify#41846",
            '"unprocessed tool calls" after stop',
            "run cancelled between model reply and first tool; stored as complete",
            "dangling calls, state=complete",
            ("tool_pairing", "cancel_clean"),
        ),
        12: Incident(
            "NousResearch/hermes-agent#48892",
            "tool->user alternation violation after /stop",
            "interrupt leaves `tool` as last row",
            "tool message then user",
            ("reload_valid",),
        ),
        13: Incident(
            "anthropics/claude-code#60837 (#59294, #60313)",
            "resumed sessions always 400",
            "empty text block in stored history; API validation tightened in May 2026",
            '`{"type":"text","text":""}`',
            ("nonblank_content",),
        ),
        14: Incident(
            "NousResearch/hermes-agent#70475",
            "silent hang, 400 each turn",
            "assistant row with blank text + tool_calls, stored before the send-side fix",
            "whitespace-only text block",
            ("nonblank_content", "session_heals"),
        ),
        15: Incident(
            "NousResearch/hermes-agent#70909",
            "same but stored rows are clean",
            "blank block made *during request assembly* (empty summary, merge)",
            "whitespace text block not in the store",
            ("nonblank_content",),
        ),
        16: Incident(
            "NousResearch/hermes-agent#83037",
            "one agent dead ~4 h, 7 siblings fine",
            "system_prompt NULL -> rebuilt -> message of one space",
            'messages[0] = " "',
            ("nonblank_content", "session_heals"),
        ),
        17: Incident(
            "block/buzz#559",
            "permanent 400 loop, requeued 10x",
            'empty end_turn serialised as ""',
            "empty text block",
            ("nonblank_content",),
        ),
        18: Incident(
            "stacklok/mecatl#291",
            "session bricked by an MCP fetch past EOF",
            "tool result with empty text replayed",
            "empty tool_result text",
            ("nonblank_content", "session_heals"),
        ),
        19: Incident(
            "agentscope-ai/QwenPaw#7402",
            '"Internal error" for ever',
            "failed stream persisted as an empty output_text",
            "empty assistant block",
            ("nonblank_content",),
        ),
        20: Incident(
            "microsoft/autogen#6083",
            "empty user content rejected by one vendor only",
            "one agent's empty output is another's input",
            'content ""',
            ("nonblank_content",),
        ),
    }
)
