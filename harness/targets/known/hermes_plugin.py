"""A plug-in of hermes, which its gateway loads: it says when a turn begins, and asks about calls.

A chat shows texts alone. Where a message waits, the gateway sends the reply of a turn and begins
the next one without a sign. The reply then looks like a notice. And hermes asks by itself about
commands of a shell only; about other tools it asks where a plug-in says so.
"""

from __future__ import annotations

import json
import os
import urllib.request
from pathlib import Path
from typing import Any


def register(context: Any) -> None:
    """Take three hooks: before the first request of a turn, before a call, before a question."""
    gate = Gate()
    context.register_hook("pre_llm_call", _begins)
    context.register_hook("pre_tool_call", gate.see_call)
    context.register_hook("pre_approval_request", gate.see_question)


def _begins(**_: object) -> None:
    _tell("/turn", {"number": _number()})


class Gate:
    """The calls that the user is to be asked about. A question names its call by the reason."""

    def __init__(self) -> None:
        self._asked: dict[str, dict[str, Any]] = {}

    def see_call(
        self, tool_name: str, args: Any = None, tool_call_id: str = "", **_: object
    ) -> Any:
        """Have the user asked about a call that needs it."""
        gated = json.loads(Path(__file__).with_name("gated.json").read_text("utf-8"))
        if tool_name not in gated:
            return None
        reason = f"call {tool_call_id}"
        asked = {"tool": gated[tool_name], "id": tool_call_id, "input": args or {}}
        self._asked[reason] = {"number": _number(), "asked": asked}
        return {"action": "approve", "message": reason}

    def see_question(self, description: str = "", **_: object) -> None:
        """Tell of a question. A call that was allowed for the session has none."""
        if description in self._asked:
            _tell("/ask", self._asked.pop(description))


def _number() -> str:
    from gateway.session_context import get_session_env  # type: ignore[import-not-found]

    return str(get_session_env("HERMES_SESSION_CHAT_ID"))


def _tell(path: str, value: dict[str, Any]) -> None:
    told = json.dumps(value).encode()
    with urllib.request.urlopen(os.environ["SIGNAL_HTTP_URL"] + path, told):
        return
