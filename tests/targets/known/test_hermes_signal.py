"""A gateway that reads its chat while it works. A script plays it, with the calls of its client."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.targets.known import hermes_signal
from tests.targets.known.test_hermes_gateway import Seams

pytestmark = pytest.mark.real

HERMES = """#!{python}
import json, os, sys, urllib.request
URL = os.environ["SIGNAL_HTTP_URL"]

def call(method, **params):
    data = json.dumps({{"jsonrpc": "2.0", "id": "1", "method": method, "params": params}}).encode()
    with urllib.request.urlopen(URL + "/api/v1/rpc", data) as got:
        return json.loads(got.read())["result"]

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
    if text == "/stop":
        say(number, "Stopped.")
    elif text == "go on":
        for each in [*waiting, (number, text)]:
            call("sendReaction", emoji="!", targetTimestamp=envelope["timestamp"])
            say(each[0], "answer to " + each[1])
    else:
        waiting.append((number, text))
"""


def _played(folder: Path, *messages: dict[str, str], replies: int) -> tuple[list[Any], int]:
    program = folder / "hermes"
    program.write_text(HERMES.format(python=sys.executable))
    program.chmod(0o755)
    given = [{"session": "main", "kind": "message", "text": "", **each} for each in messages]
    seams = Seams(given, replies)
    env = {**os.environ, "HARNESS_SESSION_DIR": str(folder), "HERMES_HOME": str(folder),
           "HARNESS_INBOX_URL": seams.url, "HARNESS_OUTBOX_URL": seams.url}  # fmt: skip
    try:
        command = [sys.executable, "-I", str(hermes_signal.__file__), str(program)]
        return seams.sent, subprocess.run(command, env=env, check=False, timeout=120).returncode
    finally:
        seams.close()


def test_messages_reach_a_gateway_that_has_not_answered_the_one_before(tmp_path: Path) -> None:
    other = {"text": "Night", "session": "night"}
    sent, status = _played(tmp_path, {"text": "Day"}, other, {"text": "go on"}, replies=3)
    assert status == 0
    assert sent == [
        {"kind": "final", "text": "answer to Day", "session": "main"},
        {"kind": "final", "text": "answer to Night", "session": "night"},
        {"kind": "final", "text": "answer to go on", "session": "main"},
    ]


def test_a_cancel_is_the_command_of_a_user_and_its_confirmation_ends_the_turn(
    tmp_path: Path,
) -> None:
    stop = {"kind": "cancel"}
    gone = {"kind": "disconnect"}
    sent, status = _played(tmp_path, {"text": "Day"}, gone, stop, {"text": "go on"}, replies=3)
    assert status == 0
    assert [(each["text"], each.get("status")) for each in sent] == [
        ("Stopped.", "cancelled"),
        ("answer to Day", None),
        ("answer to go on", None),
    ]


def test_a_gateway_that_a_signal_ends_beside_the_reader_has_crashed(tmp_path: Path) -> None:
    assert _played(tmp_path, {"text": "die"}, replies=1) == ([], 137)
