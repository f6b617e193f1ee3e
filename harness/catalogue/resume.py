"""Public incidents: restart and replay spirals, repeated side effects."""

from __future__ import annotations

from types import MappingProxyType

from harness.catalogue.incident import Incident

INCIDENTS = MappingProxyType(
    {
        148: Incident(
            "NousResearch/hermes-agent#49201",
            "reboot loop",
            "resume re-executes the command that restarted the gateway",
            "trailing unanswered tool call = `docker restart`",
            ("resume_no_reexec", "resume_bounded"),
        ),
        149: Incident(
            "NousResearch/hermes-agent#43191",
            "systemctl stop on every start",
            "resume_pending stays true",
            "same",
            ("resume_bounded",),
        ),
        150: Incident(
            "NousResearch/hermes-agent#7536",
            "stuck state returns after restart",
            "Telegram redelivers last unacked + session resumes",
            "poisoned task",
            ("resume_bounded",),
        ),
        151: Incident(
            "NousResearch/hermes-agent#8460",
            "restarts again and again",
            "effect invisible in history",
            'user asks "did you restart?"',
            ("effect_recorded",),
        ),
        152: Incident(
            "NousResearch/hermes-agent#23272, #79519",
            "restart storm",
            "--replace SIGTERMs a live one; supervisor respawns",
            "systemd/launchd",
            ("resume_bounded",),
        ),
        153: Incident(
            "NousResearch/hermes-agent#85207",
            "two loops on one session, two different answers",
            "old loop survives SIGTERM, resume starts another",
            "restart mid-turn",
            ("turn_serial", "outbound_once"),
        ),
        154: Incident(
            "NousResearch/hermes-agent#4493",
            "resumes into silence",
            "history ends on tool row, nothing continues it",
            "restart mid-turn",
            ("turn_completes",),
        ),
        155: Incident(
            "langchain-ai/langgraph#8039",
            "replay or re-execute decided by thread order",
            'put_writes and put not ordered under "sync"',
            "SIGKILL at put",
            ("effect_once",),
        ),
        156: Incident(
            "langchain-ai/langgraph#7417",
            "long tools (~180 s+) re-executed",
            "platform re-runs from checkpoint; a local kill test shows 2 entries / 2 effects",
            "kill between effect and checkpoint",
            ("effect_once",),
        ),
        157: Incident(
            "odysseus-dev/odysseus#3570",
            "Continue repeats the tools",
            "finished tool results not in resumed history",
            "interrupt during final text",
            ("effect_once", "history_faithful"),
        ),
        158: Incident(
            (
                "MervinPraison/PraisonAI#4621; agentmail-to/agentmail-mcp#49; "
                "ComposioHQ/composio#3654; codefuturist/email-mcp#62"
            ),
            "two e-mails",
            "retry after lost reply, no idempotency key",
            "timeout after send",
            ("effect_once",),
        ),
        159: Incident(
            "langchain-ai/deepagents#6321",
            "call stored twice on Esc",
            "cleanup rebuilds from UI what was checkpointed",
            "interrupt",
            ("unique_tool_ids",),
        ),
        160: Incident(
            "paperclipai/paperclip#2358",
            "agents error on every resume",
            "JSONL ends in synthetic or half tool_use turn",
            "kill mid-stream",
            ("reload_valid", "session_heals"),
        ),
        161: Incident(
            "NousResearch/hermes-agent#48765",
            "duplicate results submitted for a finished call id",
            "shown with a local mock provider; cause not visible",
            "same tool call id again",
            ("unique_tool_ids",),
        ),
    }
)
