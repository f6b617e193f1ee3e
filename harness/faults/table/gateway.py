"""Rows of the fault table: gateway."""

from __future__ import annotations

from types import MappingProxyType

from harness.faults.table.row import Row

ROWS = MappingProxyType(
    {
        "G1": Row(
            "webhook retried (same id) while turn runs / after it ended / after restart",
            "inbound_exactly_once",
            "incidents 139-142",
        ),
        "G2": Row(
            "same text, new id (user repeats)",
            "two turns (no false dedup)",
            "",
        ),
        "G3": Row(
            "same id via two channels/instances",
            "one turn",
            "incidents 97",
        ),
        "G4": Row(
            "messages out of order / burst of k while busy",
            "FIFO, none lost",
            "incidents 143-145",
        ),
        "G5": Row(
            "cancel before first token / mid-text / mid-tool / after final",
            "cancel_honoured, valid history",
            "incidents 8-12, 99",
        ),
        "G6": Row(
            "cancel + new message at once",
            "turn_serial",
            "incidents 145",
        ),
        "G7": Row(
            "delivery fails, times out, flood-wait 200 s, succeeds but reply lost",
            "outbound_once",
            "incidents 133-136",
        ),
        "G8": Row(
            "delivery of partials succeeds, final fails",
            "edit or mark",
            "incidents 134, 136",
        ),
        "G9": Row(
            "restart in each phase; restart k times",
            "resume_bounded, no two loops",
            "incidents 148-154",
        ),
        "G10": Row(
            "interrupted turn whose last call restarts the gateway",
            "resume_no_reexec",
            "incidents 148",
        ),
        "G11": Row(
            "poison message: each start crashes",
            "parked after R tries",
            "incidents 150",
        ),
        "G12": Row(
            "client disconnects mid-stream",
            "turn persisted or marked",
            "incidents 172",
        ),
        "G13": Row(
            "self-message echo, bot-to-bot",
            "ignored / bounded",
            "",
        ),
        "G14": Row(
            "background completion injects messages",
            "order kept, no re-send of the old reply",
            "home-assistant/core#55806",
        ),
        "G15": Row(
            "stop hook / heartbeat / cron fires in each phase, or continuously",
            "bounded_turn, budget_ceiling",
            "incidents 92-98",
        ),
        "G16": Row(
            "user absent for n hours with open approval",
            "bounded_wait",
            "",
        ),
        "G17": Row(
            "attachments: too large, missing, wrong type",
            "refused before history",
            "incidents 27, 28",
        ),
        "G18": Row(
            "session key collision / user switches model mid-turn",
            "turn_serial",
            "incidents 58",
        ),
    }
)
