"""Codex sends the name of a tool that no API takes back as it came, on every request."""

import re

from bare_server import BareServer, call, say
from command_line import Program, ended

with BareServer() as server, Program("codex", server) as program:
    server.answers = [call("read file!", {"path": "a"}), say("I see.")]
    for text in ("Read a", "Thank you", "Good bye"):
        program.ask(text)
    version = program.version

calls = [[i["name"] for i in b["input"] if i["type"] == "function_call"] for b in server.bodies[1:]]
wrong = [names for names in calls if any(not re.fullmatch("[a-zA-Z0-9_-]+", n) for n in names)]
ended(wrong, version, f"{len(wrong)} of {len(calls)} later requests hold {calls[0]}")
