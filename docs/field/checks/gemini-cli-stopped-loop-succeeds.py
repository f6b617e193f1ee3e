"""Gemini CLI breaks a loop off, and ends with success, an empty response and no reason."""

import json

from bare_server import BareServer
from command_line import Program, ended

with BareServer() as server, Program("gemini", server) as program:
    server.answers = [program.shell("cat gone.txt")] * 40
    said = program.ask("What is in gone.txt?")
    version = program.version

told = json.loads(said.text)
seen = said.status == 0 and not told.get("response") and "error" not in told
seen = seen and "loop" not in said.errors.lower()
asked = len(server.bodies)
ended(seen, version, f"exit status {said.status} after {asked} requests, {told.get('response')!r}")
