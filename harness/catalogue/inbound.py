"""Public incidents: duplicate, lost, reordered or interleaved user messages."""

from __future__ import annotations

from types import MappingProxyType

from harness.catalogue.incident import Incident

INCIDENTS = MappingProxyType(
    {
        139: Incident(
            "NousResearch/hermes-agent#68502",
            "same update runs twice",
            "no update_id dedup; often *identical timestamp*",
            "redelivery or double dispatch",
            ("inbound_exactly_once",),
        ),
        140: Incident(
            "openclaw/openclaw#95829",
            "redelivery during a long turn persisted twice",
            "dedup committed at finish, not at accept",
            "getUpdates redelivery",
            ("inbound_exactly_once",),
        ),
        141: Incident(
            "openclaw/openclaw#46674; felinics/Memoh#337",
            "2-4 copies under load",
            "offset not advanced; no idempotency",
            "slow model",
            ("inbound_exactly_once",),
        ),
        142: Incident(
            "anthropics/claude-plugins-official#3938",
            "last batch redelivered after crash",
            "offset only in memory",
            "kill",
            ("inbound_exactly_once", "effect_once"),
        ),
        143: Incident(
            "NousResearch/hermes-agent#4989 (#4947)",
            "messages lost while busy",
            "one-slot pending buffer; monitor consumes the first",
            "3 messages in a turn",
            ("inbound_no_loss",),
        ),
        144: Incident(
            "AINIZE-SPACE/ChorusGate#54",
            '"queued" then dropped',
            "queue mode marks handled",
            "message while busy",
            ("inbound_no_loss",),
        ),
        145: Incident(
            "getpaseo/paseo#3999",
            "new message kills the turn",
            "replace instead of queue",
            "message while busy",
            ("inbound_no_loss", "turn_serial"),
        ),
        146: Incident(
            "luisgamas/uxnan#125",
            "two CLIs write one session",
            "no in-flight check",
            "second send",
            ("turn_serial",),
        ),
        147: Incident(
            "NousResearch/hermes-agent#14762",
            "queue mode ignored; sub-agents killed",
            "config only read in drain path",
            "message while busy",
            ("cancel_scope",),
        ),
    }
)
