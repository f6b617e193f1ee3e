"""What the agent meets of each gateway fault: from the inbox, at `send`, or as its own end."""

from __future__ import annotations

from typing import Any

INBOUND: dict[str, tuple[dict[str, Any], list[tuple[str, str, str]]]] = {
    "gateway.redelivered": (
        {"when": 2},
        [("m1", "main", "one"), ("m1", "main", "one"), ("m2", "main", "two")],
    ),
    "gateway.repeated_by_the_user": (
        {"when": 2},
        [("m1", "main", "one"), ("fault-2", "main", "one"), ("m2", "main", "two")],
    ),
    "gateway.overtaken": ({"when": 2}, [("m1", "main", "one"), ("m2", "main", "two")]),
    "gateway.crowded": (
        {"when": 2, "often": 2, "text": "?"},
        [
            *(("m1", "main", "one"), ("fault-2", "main", "?")),
            *(("fault-3", "main", "?"), ("m2", "main", "two")),
        ],
    ),
    "gateway.cancelled_between": (
        {"when": 2},
        [("m1", "main", "one"), ("fault-2", "main", ""), ("m2", "main", "two")],
    ),
    "gateway.echoed": (
        {"when": 2},
        [("m1", "main", "one"), ("fault-2", "main", "You said: one"), ("m2", "main", "two")],
    ),
    "gateway.background_message": (
        {"when": 3, "text": "done"},
        [("m1", "main", "one"), ("m2", "main", "two"), ("fault-3", "main", "done")],
    ),
    "gateway.heartbeat": (
        {"text": "tick"},
        [("fault-1", "heartbeat", "tick"), ("m1", "main", "one"), ("m2", "main", "two")],
    ),
    "gateway.attachment_only": ({}, [("m1", "main", ""), ("m2", "main", "two")]),
    "gateway.attachment_too_large": (
        {"characters": 3},
        [("m1", "main", "one\nxxx"), ("m2", "main", "two")],
    ),
    "gateway.attachment_of_wrong_type": (
        {},
        [("m1", "main", "one\n\u0000PNG\udcff\u2028\ufffe"), ("m2", "main", "two")],
    ),
    "gateway.session_key_collides": (
        {"when": 2, "session": "ada"},
        [("m1", "main", "one"), ("m2", "ada", "two")],
    ),
}

DELIVERY: dict[str, tuple[type[Exception], str, bool, int]] = {
    "gateway.delivery_fails": (RuntimeError, "the chat is gone", False, 0),
    "gateway.delivery_times_out": (TimeoutError, "the channel does not answer", False, 30_000),
    "gateway.flood_wait": (RuntimeError, "the outbox answered 429", False, 0),
    "gateway.confirmation_lost": (TimeoutError, "the channel does not answer", True, 0),
    "gateway.final_fails": (RuntimeError, "the chat is gone", False, 0),
}
"""What `send` raises, whether the text has arrived all the same, and how long it took."""

TAKING_BACK = {"gateway.cancelled": "cancel", "gateway.disconnected": "disconnect"}
KILLS = {"gateway.killed", "gateway.poison_message", "gateway.killed_mid_answer"}
