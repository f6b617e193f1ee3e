"""What the driver gives a program, what it takes from it, and that nothing else is in reach."""

from __future__ import annotations

import contextlib
import socket
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    SeedMessage,
    Session,
    Turn,
)
from harness.core.values.calls import OutboxRequest
from harness.core.values.profile import Profile
from harness.runner import Run, run
from harness.targets import TargetSpec
from harness.targets.known import DRIVER, Known, PastForm, driver

pytestmark = pytest.mark.real

SCRIPT = str(Path(__file__).with_name("script_agent.py"))
ROW = Known(
    title="a script",
    program=sys.executable,
    install="",
    version="1",
    first=("{program}", SCRIPT, "first", ""),
    next=("{program}", SCRIPT, "next", "{text}"),
    answer="json result",
    failed="broken",
    environment={"MODEL": "{model}", "WORK": "{home}"},
    files={"{home}/config.json": '{"tools": "{mcp}"}'},
)


PAST = Session(messages=(SeedMessage(role="user", content="My name is Ada."),))


def _played(
    *texts: str | InboxItem, session: str = "main", seeded: bool = False, **fields: Any
) -> Run:
    scenario = Scenario(
        name="talk",
        session=PAST if seeded else Session(),
        inbox=tuple(
            each if isinstance(each, InboxItem) else InboxItem(text=each, session=session)
            for each in texts
        ),
        faults=fields.pop("faults", ()),
        profile=fields.pop("plays_as", Profile()),
        script=tuple(Turn(say=f"Answer {n}.", optional=True) for n, _ in enumerate(texts)),
    )
    row = msgspec.json.encode(msgspec.structs.replace(ROW, **fields)).decode()
    command = (sys.executable, "-I", str(DRIVER), row)
    return run(scenario, TargetSpec("script", "process", command=command))


@pytest.mark.parametrize("session", ["../../out", "/etc/x", "a/b", "50%2F..?#"])
def test_a_session_has_a_folder_of_its_own_below_that_of_the_run(session: str) -> None:
    code = "import os, pathlib; pathlib.Path('answer').write_text(os.getcwd())"
    made = _played(
        "hi", session=session, first=("{program}", "-c", code), answer="file {work}/answer"
    )
    (sent,) = _sent(made)
    folder = Path(sent.text)
    assert folder.parent.name == "work"
    assert folder.name == quote(session, safe="")


def _sent(made: Run) -> list[OutboxRequest]:
    requests = [e.request for e in made.history.events if getattr(e, "seam", "") == "outbox"
                and hasattr(e, "request")]  # fmt: skip
    return [each for each in requests if isinstance(each, OutboxRequest)]


def _closes_networks() -> bool:
    """Whether this machine lets a process leave its network."""
    import subprocess

    code = "import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare(0x50000000) != 0)"
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_process_for_each_message_gets_its_row_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cret")
    made = _played("Hello", "Again")
    sent = _sent(made)
    assert [each.kind for each in sent] == ["final", "final"], made.verdict.findings
    first, second = (msgspec.json.decode(each.text) for each in sent)
    assert (first["how"], first["said"], first["answer"]) == ("first", "Hello", "Answer 0.")
    assert (second["how"], second["said"], second["answer"]) == ("next", "Again", "Answer 1.")
    proxies = {n for n in first["names"] if "proxy" in n.lower()}
    usual = {"HARNESS_SESSION_DIR", "HOME", "LANG", "LC_CTYPE", "MODEL", "PATH", "WORK"}
    assert {*first["names"]} - proxies <= usual
    assert first["folder"] == "main"
    assert "/harness/mcp" in first["config"]
    if _closes_networks():
        assert not proxies
        assert not first["outside"]
    else:
        assert "HTTPS_PROXY" in proxies


def test_a_program_that_stays_takes_the_messages_of_the_run_by_itself() -> None:
    stays = ("{python}", "-c", STAYS, "{program}", "{depth}", "{wire}")
    made = _played(
        "Hello", "Again", first=(), next=(), stays=stays, options={"depth": True},
        by_wire={"anthropic": {"wire": "a"}, "gemini": {"wire": "g"}},
    )  # fmt: skip
    said = [msgspec.json.decode(each.text) for each in _sent(made)]
    assert [each["text"] for each in said] == ["Hello", "Again"], made.verdict.findings
    assert said[0]["words"] == [sys.executable, "true", "a"]
    assert len({each["process"] for each in said}) == 1


def test_a_stored_session_is_one_of_the_program_before_its_first_message() -> None:
    code = "import pathlib, sys; print(sys.argv[1], pathlib.Path(sys.argv[2], 'taken').exists())"
    take = "import shutil, sys; shutil.copy(sys.argv[1] + '/past.jsonl', sys.argv[1] + '/taken')"
    form = PastForm(
        form="codex", files={"{home}/past.jsonl": "{past}"},
        then=("{python}", "-c", take, "{home}"),
    )  # fmt: skip
    words = {how: ("{program}", "-c", code, how, "{home}") for how in ("first", "next")}
    for seeded, session, said in (
        (True, "main", "next True"), (True, "side", "first True"), (False, "main", "first False"),
    ):  # fmt: skip
        made = _played("Hello", seeded=seeded, session=session, past=form, answer="text", **words)
        assert [each.text for each in _sent(made)] == [said], made.verdict.findings


def test_a_message_that_ends_the_program_twice_is_given_up() -> None:
    faults = (FaultSpec(kind="gateway.killed", on="model", often=2, when=1),)
    made = _played("Hello", "Again", faults=faults)
    sent = _sent(made)
    assert [each.kind for each in sent] == ["error", "final"], made.verdict.findings
    assert "twice" in sent[0].text
    assert msgspec.json.decode(sent[1].text)["how"] == "next"


def test_a_blank_message_that_is_refused_begins_no_session() -> None:
    """Claude Code made none for it, and had no session to resume at each later message."""
    code = "import sys; print(sys.argv[1]); sys.exit(not sys.stdin.read().strip())"
    words = {how: ("{program}", "-c", code, how) for how in ("first", "next")}
    sent = _sent(_played(" ", "Hello", " ", "Again", answer="text", **words))
    assert [(s.kind, s.text) for s in sent] == [
        ("error", "first"), ("final", "first"), ("error", "next"), ("final", "next"),
    ]  # fmt: skip


def test_an_answer_that_is_called_an_error_and_a_failing_exit_are_errors() -> None:
    sent = _sent(_played("This is broken", "fail"))
    assert [each.kind for each in sent] == ["error", "error"]
    assert sent[1].text == "the model is overloaded"


def test_a_program_that_a_signal_ends_has_crashed() -> None:
    made = _played("die")
    assert [f.code for f in made.verdict.findings if f.check == "target"] == ["target.crashed"]


def test_a_cancel_ends_the_program_and_the_next_message_starts_it_again() -> None:
    """The user presses Ctrl-C: no crash, and the message is not said a second time."""
    stop = InboxItem(kind="cancel", id="c", when={"ms": 4000})
    waits = "time.sleep(30 * (sys.argv[1] == 'first'))"
    code = f"import sys, time; print(sys.argv[1], flush=True); {waits}"
    made = _played(
        "Hello", stop, "Again", first=("{program}", "-c", code, "first"), answer="text",
        next=("{program}", "-c", code, "next"), plays_as=Profile(cancel="sigint"),
    )  # fmt: skip
    said = [(each.kind, each.text, each.status) for each in _sent(made)]
    assert said == [("final", "first", "cancelled"), ("final", "next", "")], made.verdict.findings


def test_an_answer_may_stand_in_a_file_or_be_the_whole_output() -> None:
    said = ("{program}", "-c", "import sys; print(sys.stdin.read().upper())")
    assert [s.text for s in _sent(_played("hello", first=said, answer="text"))] == ["HELLO"]
    code = "open('answer', 'w').write('kept')"
    in_file = _played("hello", first=("{program}", "-c", code), answer="file {work}/answer")
    assert [s.text for s in _sent(in_file)] == ["kept"]


def test_the_server_of_tools_is_awake_before_the_first_message() -> None:
    made = _played("Hello", first=("{program}", "-c", _HEARD), answer="text")
    assert [s.text for s in _sent(made)] == ["Hello"]
    asked: list[bytes] = []

    class Server(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Server) as server, ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(server.handle_request)
        driver._wake_tools(f"http://127.0.0.1:{server.server_port}/mcp")
        waiting.result(10)
    assert [msgspec.json.decode(body)["method"] for body in asked] == ["initialize"]
    driver._wake_tools("http://127.0.0.1:9/mcp")  # a missing server does not stop the driver


@pytest.mark.parametrize("resets", [True, False])
def test_a_reset_and_an_end_pass_both_relays_as_what_they_are(tmp_path: Path, resets: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as model, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        at = free.getsockname()
        free.close()
        relay = str(tmp_path / "relay")
        joined = partial(driver._joined, socket.AF_INET, model.getsockname())
        driver._serve(socket.AF_UNIX, relay, joined)
        driver._serve(socket.AF_INET, at, partial(driver._joined, socket.AF_UNIX, relay))
        with socket.create_connection(at, timeout=30) as agent:
            answers, _ = model.accept()
            answers.sendall(b"part")
            assert agent.recv(9) == b"part"
            answers.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", resets, 0))
            answers.close()
            with pytest.raises(ConnectionResetError) if resets else contextlib.nullcontext():
                assert agent.recv(9) == b""


STAYS = """
import json, os, sys, urllib.request
while (got := urllib.request.urlopen(os.environ["HARNESS_INBOX_URL"])).status != 204:
    if got.status == 200:
        message = json.load(got)
        said = {"text": message["text"], "words": sys.argv[1:], "process": os.getpid()}
        answer = {"text": json.dumps(said), "in_reply_to": message["id"]}
        data, kind = json.dumps(answer).encode(), {"content-type": "application/json"}
        urllib.request.urlopen(urllib.request.Request(os.environ["HARNESS_OUTBOX_URL"], data, kind))
"""
_HEARD = "import sys; print(sys.stdin.read())"
