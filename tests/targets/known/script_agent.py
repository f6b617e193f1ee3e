"""A program that a driver starts: it asks the model, and says what it sees of its surroundings."""

import json
import os
import socket
import sys
import urllib.request
from pathlib import Path


def reaches(host: str, port: int) -> bool:
    """Whether a connection there is on its way or made."""
    with socket.socket() as connection:
        connection.settimeout(0.2)
        try:
            connection.connect((host, port))
        except TimeoutError:
            return True
        except OSError:
            return False
        return True


def ask(text: str) -> str:
    """The model's answer."""
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": text}]}
    headers = {
        "x-api-key": "k",
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
    }
    url = f"{os.environ['MODEL']}/v1/messages"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["content"][0]["text"]


how, told = sys.argv[1], sys.argv[2]
said = sys.stdin.read() or told
if "die" in said:
    os.abort()
if "fail" in said:
    sys.exit("the model is overloaded")
seen = {
    "how": how,
    "said": said,
    "answer": ask(said),
    "names": sorted(os.environ),
    "outside": reaches("192.0.2.1", 80),
    "config": Path(os.environ["HOME"], "config.json").read_text(),
    "folder": Path.cwd().name,
}
print("starting\n" + json.dumps({"result": json.dumps(seen), "broken": "broken" in said}))
