"""Small programs that end in every way there is, as files that a target can name.

Each is a script for the interpreter that runs the tests, and uses the standard library alone.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from harness.targets import TargetSpec, resolve

PRELUDE = """
import json, os, sys, time, urllib.request

def post(url, value, **headers):
    data = json.dumps(value).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json", **headers})
    with urllib.request.urlopen(request) as answer:
        return answer.read()

def inbox():
    while True:
        with urllib.request.urlopen(os.environ["HARNESS_INBOX_URL"]) as answer:
            if answer.status == 204:
                return
            if answer.status == 200:
                yield json.loads(answer.read())

def ask(text):
    body = {"model": "m", "max_tokens": 64, "messages": [{"role": "user", "content": text}]}
    key = os.environ["ANTHROPIC_API_KEY"]
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
    return json.loads(post(url, body, **headers))["content"][0]["text"]

def say(message, text):
    post(os.environ["HARNESS_OUTBOX_URL"], {
        "session": message["session"], "in_reply_to": message["id"],
        "kind": "final", "text": text, "status": "ok",
    })
"""

GREET = "for message in inbox(): say(message, ask(message['text']))"
CRASH = "ask('hello'); print('about to fail', file=sys.stderr); sys.exit(7)"
HANG = "ask('hello'); time.sleep(60)"
NEVER_CALLS = "for message in inbox(): say(message, 'I asked nobody.')"
TELL_ENVIRONMENT = """
for message in inbox():
    ask(message['text'])
    say(message, ' '.join(sorted(os.environ)))
"""


def program(folder: Path, body: str) -> TargetSpec:
    """A target that runs `body` after the prelude."""
    path = folder / "program.py"
    path.write_text(PRELUDE + body)
    return resolve(f"process:{shlex.quote(sys.executable)} {shlex.quote(str(path))}")
