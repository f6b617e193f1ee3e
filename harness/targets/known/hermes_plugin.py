"""A plug-in of hermes, which its gateway loads: it says when a turn begins, and in which chat.

A chat shows texts alone. Where a message waits, the gateway sends the reply of a turn and begins
the next one without a sign. The reply then looks like a notice.
"""

from __future__ import annotations

import json
import os
import urllib.request
from typing import Any


def register(context: Any) -> None:
    """Take the hook that hermes calls once a turn, before its first request."""
    context.register_hook("pre_llm_call", _begins)


def _begins(**_: object) -> None:
    from gateway.session_context import get_session_env  # type: ignore[import-not-found]

    told = json.dumps({"number": get_session_env("HERMES_SESSION_CHAT_ID")}).encode()
    with urllib.request.urlopen(os.environ["SIGNAL_HTTP_URL"] + "/turn", told):
        return
