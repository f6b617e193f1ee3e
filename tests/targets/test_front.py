"""A program that is asked on its command line and a chat endpoint, played as they are."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import msgspec
import pytest

from harness.core.history.events import Called, Ended
from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.core.values.calls import OutboxRequest
from harness.runner import Run, run
from harness.targets import front, resolve
from tests.runner.programs import PRELUDE

TALK = Scenario(
    name="talk",
    inbox=(InboxItem(text="hello"), InboxItem(text="again")),
    script=(Turn(say="Hello to you."), Turn(say="Yes.")),
)

SERVER = """
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status = 422 if "message" not in asked else 502 if asked["message"] == "again" else 200
        body = {"said": {"to": asked.get("chat"), "text": ask("hello") if status == 200 else "no"}}
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def play(folder: Path, body: str, more: str = "") -> Run:
    """The talk with a program whose body follows the prelude; `more` stands behind its command."""
    path = folder / "program.py"
    path.write_text(PRELUDE + body)
    words = f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"
    return run(TALK, resolve(f"process:{words}{more}"))


def told(result: Run) -> list[tuple[str, str]]:
    """The kind and the text of what the user was told."""
    calls = [event.request for event in result.history.events if isinstance(event, Called)]
    return [(call.kind, call.text) for call in calls if isinstance(call, OutboxRequest)]


@pytest.mark.parametrize("words", [" {text}", " {text} {model}"])
def test_a_program_is_started_for_each_message(words: str, tmp_path: Path) -> None:
    body = "print(ask(sys.argv[1]))"
    result = play(tmp_path, body, words)
    assert told(result) == [("final", "Hello to you."), ("final", "Yes.")]
    assert result.verdict.outcome == "completed"


def test_a_status_tells_the_user_of_an_error_and_an_uncaught_one_is_a_crash(tmp_path: Path) -> None:
    body = "ask(sys.argv[1])\nsys.exit('the model is busy')"
    assert told(play(tmp_path, body, " {text}")) == [("error", "the model is busy")] * 2
    (ended,) = (e for e in play(tmp_path, "ask(sys.argv[1])\n1 / 0", " {text}").history.events
                if isinstance(e, Ended))  # fmt: skip
    assert (ended.how, ended.exit_code) == ("crashed", 1)
    assert "ZeroDivisionError" in ended.text


def test_an_endpoint_is_a_target_of_one_line(tmp_path: Path) -> None:
    more = " {port}?chat=/x&text=message&session=chat&reply=said.text"
    result = play(tmp_path, SERVER, more)
    (first, text), (second, _) = told(result)
    assert (first, text, second) == ("final", "Hello to you.", "error")


DYING, DROPPING = "os._exit(3)", "self.wfile.close(); self.close_connection = True; return"


def test_a_server_that_ends_in_a_message_is_a_crash_with_its_own_words(tmp_path: Path) -> None:
    body = SERVER.replace(
        "self.send_response", f"if status == 502: {DYING}\n        self.send_response"
    )
    result = play(tmp_path, f"import os\n{body}", " {port}?chat=/talk&text=message&reply=said.text")
    assert told(result) == [("final", "Hello to you.")]
    (end,) = (event for event in result.history.events if isinstance(event, Ended))
    assert (end.how, end.exit_code) == ("crashed", 3)
    assert "the server ended with status 3" in end.text
    assert "urllib" not in end.text


def test_a_connection_that_is_dropped_is_an_error_that_the_user_is_told(tmp_path: Path) -> None:
    body = SERVER.replace(
        "self.send_response", f"if status == 502: {DROPPING}\n        self.send_response"
    )
    result = play(tmp_path, body, " {port}?chat=/talk&text=message&reply=said.text")
    first, (kind, text) = told(result)
    assert (first, kind) == (("final", "Hello to you."), "error")
    assert text.startswith("the server sent no answer: ")


WHOLE = (
    SERVER.replace('asked["message"] == "again"', 'len(asked["message"]) == FAILS_AT')
    .replace('"to": asked.get("chat")', '"to": ""')
    .replace('"no"', 'json.dumps(asked["message"])')
)


def rows(*texts: str) -> list[dict[str, str]]:
    """A conversation as a page keeps it."""
    return [{"role": ("user", "assistant")[n % 2], "content": t} for n, t in enumerate(texts)]


def test_a_page_that_keeps_the_conversation_posts_all_of_it(tmp_path: Path) -> None:
    body = WHOLE.replace("FAILS_AT", "3")
    result = play(tmp_path, body, " {port}?chat=/talk&messages=message&reply=said.text")
    (_, first), (kind, text) = told(result)
    assert (first, kind) == ("Hello to you.", "error")
    assert json.loads(json.loads(text)["said"]["text"]) == rows("hello", "Hello to you.", "again")


def test_a_question_that_failed_is_not_posted_again(tmp_path: Path) -> None:
    body = WHOLE.replace("FAILS_AT", "1")
    result = play(tmp_path, body, " {port}?chat=/talk&messages=message&reply=said.text")
    said = [json.loads(json.loads(text)["said"]["text"]) for _, text in told(result)]
    assert said == [rows("hello"), rows("again")]


def test_the_messages_of_use_chat_have_parts(tmp_path: Path) -> None:
    body = WHOLE.replace("FAILS_AT", "1")
    result = play(tmp_path, body, " {port}?chat=/talk&ui_messages=message&reply=said.text")
    (row,) = json.loads(json.loads(told(result)[0][1])["said"]["text"])
    assert (row["role"], row["parts"]) == ("user", [{"type": "text", "text": "hello"}])
    assert row["id"]


def test_a_refused_body_says_what_was_sent(tmp_path: Path) -> None:
    result = play(tmp_path, SERVER, " {port}?chat=/chat")
    (ended,) = (e for e in result.history.events if isinstance(e, Ended))
    assert "/chat with ['text'] is refused: 422" in ended.text


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ('{"id": 7, "answer": "Yes"}', "application/json", "Yes"),
        ('"Yes"', "application/json", "Yes"),
        ("Yes\n", "text/plain", "Yes\n"),
        ('{"reply": "Yes"}\n', "text/plain", "Yes"),
        ('{"city": "Oslo"}', "text/plain", '{"city": "Oslo"}'),
        ("{Yes}", "text/plain", "{Yes}"),
        ("data: Y\n\ndata:  es\n\ndata: [DONE]\n\n", "text/event-stream", "Y es"),
        ('data: {"type": "x", "delta": "Y"}\n\ndata: {"type": "end"}\n', "text/event-stream", "Y"),
        ('{"text": "Y"}\n{"text": "es"}\n', "application/x-ndjson", "Yes"),
    ],
)
def test_where_an_answer_stands(text: str, kind: str, said: str) -> None:
    assert front.said(text, kind) == said


def test_an_answer_that_is_not_found_is_asked_for() -> None:
    with pytest.raises(SystemExit, match=r"no answer in \['a', 'b'\]: name its field with"):
        front.said('{"a": "x", "b": 1}')


def test_what_is_declared_of_such_a_program() -> None:
    profile = resolve(f"process:{shlex.quote(sys.executable)} x.py {{text}}").profile
    assert (profile.replies, profile.capabilities.restarts) == ("text", False)
    assert msgspec.structs.asdict(resolve("process:python x.py?chat=/a&text=b"))["options"] == {
        "chat": "/a", "text": "b",
    }  # fmt: skip
