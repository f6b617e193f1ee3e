"""Codex asks again, unchanged, after 402 Payment Required."""

from bare_server import BareServer, error
from command_line import Program, ended

with BareServer() as server, Program("codex", server) as program:
    server.answers = [error(402, "The account has no credit.")] * 20
    said = program.ask("Hello")
    version = program.version

equal = sum(body["input"] == server.bodies[0]["input"] for body in server.bodies)
ended(equal > 1, version, f"{equal} equal requests were answered 402, exit status {said.status}")
