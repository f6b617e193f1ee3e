"""A gateway that reads its chat while it works. A script plays it, with the calls of its client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from harness.targets.known import hermes_plugin, hermes_signal
from tests.targets.known.test_hermes_gateway import Seams

pytestmark = pytest.mark.real

HERMES = """#!{python}
import json, os, sys, urllib.request
URL = os.environ["SIGNAL_HTTP_URL"]

def call(method, **params):
    data = json.dumps({{"jsonrpc": "2.0", "id": "1", "method": method, "params": params}}).encode()
    with urllib.request.urlopen(URL + "/api/v1/rpc", data) as got:
        return json.loads(got.read())["result"]

def begin(number):
    data = json.dumps({{"number": number}}).encode()
    urllib.request.urlopen(URL + "/turn", data).close()

def end(number):
    call("sendReaction", recipient=[number], emoji="", remove=True)
    call("sendReaction", recipient=[number], emoji="done")

def say(number, text):
    assert call("send", recipient=[number], message=text)["results"] == [{{"type": "SUCCESS"}}]

assert sys.argv[1:] == ["gateway", "run", "--replace"]
urllib.request.urlopen(URL + "/api/v1/check").close()
assert call("listContacts") == []
say(os.environ["SIGNAL_HOME_CHANNEL"], "The gateway is online again.")
waiting, times = [], set()
for line in urllib.request.urlopen(URL + "/api/v1/events"):
    if not line.startswith(b"data:"):
        continue
    envelope = json.loads(line[5:])["envelope"]
    number, text = envelope["sourceNumber"], envelope["dataMessage"]["message"]
    assert envelope["timestamp"] not in times
    times.add(envelope["timestamp"])
    if text == "die":
        os.kill(os.getpid(), 9)
    if text == "pay":
        asked = {{"tool": "pay", "id": "c1", "input": {{"sum": 5}}}}
        told = json.dumps({{"number": number, "asked": asked}}).encode()
        urllib.request.urlopen(URL + "/ask", told).close()
        say(number, "May I?")
    elif text.startswith(("/approve", "/deny")):
        say(number, text[1:])
        say(number, "paid")
        end(number)
    elif text in ("/stop", "/help"):
        say(number, text[1:])
    elif text == "go on":
        waiting.append((number, text))
        for number, text in waiting:
            begin(number)
            say(number, "compressing")
            say(number, "answer to " + text)
        end(number)
        end(waiting[1][0])
    else:
        waiting.append((number, text))
"""


def _played(
    folder: Path, *messages: dict[str, str], replies: int, **answer: Any
) -> tuple[list[Any], int]:
    program = folder / "hermes"
    program.write_text(HERMES.format(python=sys.executable))
    program.chmod(0o755)
    given = [{"session": "main", "kind": "message", "text": "", **each} for each in messages]
    seams = Seams(given, replies, answer)
    env = {**os.environ, "HARNESS_SESSION_DIR": str(folder), "HERMES_HOME": str(folder),
           "HARNESS_INBOX_URL": seams.url, "HARNESS_OUTBOX_URL": seams.url,
           "HARNESS_APPROVALS_URL": f"{seams.url}/ask",
           "HARNESS_TOOLS_URL": f"{seams.url}/tools"}  # fmt: skip
    try:
        command = [sys.executable, "-I", str(hermes_signal.__file__), str(program)]
        return seams.sent, subprocess.run(command, env=env, check=False, timeout=120).returncode
    finally:
        seams.close()


def test_messages_reach_a_gateway_that_has_not_answered_the_one_before(tmp_path: Path) -> None:
    other = {"text": "Night", "session": "night"}
    sent, status = _played(tmp_path, {"text": "Day"}, other, {"text": "go on"}, replies=6)
    assert status == 0
    notice = {"kind": "notice", "text": "compressing"}
    assert sent == [
        {**notice, "session": "main"},
        {**notice, "session": "night"},
        {"kind": "final", "text": "answer to Day", "session": "main"},
        {**notice, "session": "main"},
        {"kind": "final", "text": "answer to go on", "session": "main"},
        {"kind": "final", "text": "answer to Night", "session": "night"},
    ]


def test_a_cancel_is_the_command_of_a_user_and_its_confirmation_ends_the_turn(
    tmp_path: Path,
) -> None:
    stop, gone = {"kind": "cancel"}, {"kind": "disconnect"}
    sent, status = _played(tmp_path, {"text": "Day"}, gone, stop, {"text": "go on"}, replies=5)
    assert status == 0
    finals = [(each["text"], each.get("status")) for each in sent if each["kind"] == "final"]
    assert finals == [("stop", "cancelled"), ("answer to Day", None), ("answer to go on", None)]


ALLOWED = {"answer": "allow", "id": "c1", "input": {"sum": 5}}


@pytest.mark.parametrize(
    ("answer", "typed"),
    [
        (ALLOWED, "approve"),
        ({**ALLOWED, "always": True}, "approve session"),
        ({**ALLOWED, "input": {"sum": 4}}, 'deny use {"sum": 4}'),
        ({"answer": "deny", "id": "c1", "reason": "Not before Monday."}, "deny Not before Monday."),
        ({**ALLOWED, "id": "another"}, "deny"),
    ],
)
def test_what_the_user_decides_is_a_command_and_only_the_last_text_is_the_reply(
    answer: dict[str, Any], typed: str, tmp_path: Path
) -> None:
    sent, status = _played(tmp_path, {"text": "pay"}, replies=3, **answer)
    assert status == 0
    told = [(each["kind"], each["text"]) for each in sent]
    assert told == [("notice", "May I?"), ("notice", typed), ("final", "paid")]
    gated = tmp_path / "plugins" / "harness" / "gated.json"
    assert json.loads(gated.read_text()) == {"mcp__harness__pay": "pay"}


def test_the_plugin_tells_the_begin_of_a_turn_and_asks_about_gated_calls_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    context = types.ModuleType("gateway.session_context")
    setattr(context, "get_session_env", {"HERMES_SESSION_CHAT_ID": "+1556"}.get)  # noqa: B010
    monkeypatch.setitem(sys.modules, "gateway.session_context", context)
    monkeypatch.setitem(sys.modules, "gateway", types.ModuleType("gateway"))
    (tmp_path / "gated.json").write_text('{"mcp__harness__pay": "pay"}')
    monkeypatch.setattr(hermes_plugin, "__file__", str(tmp_path / "__init__.py"))
    told: list[Any] = []
    monkeypatch.setattr(hermes_plugin, "_tell", lambda path, value: told.append((path, value)))
    hooks: dict[str, Any] = {}
    hermes_plugin.register(types.SimpleNamespace(register_hook=hooks.__setitem__))
    hooks["pre_llm_call"](session_id="s1")
    assert hooks["pre_tool_call"](tool_name="todo", args={}, tool_call_id="c0") is None
    gate = hooks["pre_tool_call"](tool_name="mcp__harness__pay", args={"sum": 5}, tool_call_id="c1")
    assert gate == {"action": "approve", "message": "call c1"}
    hooks["pre_approval_request"](description="call c1", command="<mcp__harness__pay>")
    hooks["pre_approval_request"](description="a command of the shell")
    asked = {"tool": "pay", "id": "c1", "input": {"sum": 5}}
    assert told == [
        ("/turn", {"number": "+1556"}), ("/ask", {"number": "+1556", "asked": asked})
    ]  # fmt: skip


def test_a_gateway_that_a_signal_ends_beside_the_reader_has_crashed(tmp_path: Path) -> None:
    assert _played(tmp_path, {"text": "die"}, replies=1) == ([], 137)
