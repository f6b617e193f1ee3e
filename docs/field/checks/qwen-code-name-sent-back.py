"""Qwen Code sends the name of a tool that no API takes back as it came, on every request."""

import re

from bare_server import BareServer, call, say
from command_line import Program, ended

with BareServer() as server, Program("qwen", server) as program:
    server.answers = [call("read file!", {"path": "a"}), say("I see.")]
    for text in ("Read a", "Thank you"):
        program.ask(text)
    version = program.version

calls = [
    [call["function"]["name"] for m in body["messages"] for call in m.get("tool_calls") or ()]
    for body in server.bodies[1:]
]
wrong = [names for names in calls if any(not re.fullmatch("[a-zA-Z0-9_-]+", n) for n in names)]
ended(wrong, version, f"{len(wrong)} of {len(calls)} later requests hold {calls[0]}")
