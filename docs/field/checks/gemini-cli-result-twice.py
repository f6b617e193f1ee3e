"""Gemini CLI sends the result of each call twice in a session that it resumes."""

from bare_server import BareServer, say
from command_line import Program, ended

with BareServer() as server, Program("gemini", server) as program:
    server.answers = [program.shell("echo hi"), say("It says hi.")]
    program.ask("Run echo hi")
    program.ask("Thank you")
    version = program.version

parts = [part for turn in server.bodies[-1]["contents"] for part in turn["parts"]]
calls, results = (sum(k in p for p in parts) for k in ("functionCall", "functionResponse"))
ended(results > calls, version, f"resumed with {calls} call and {results} results")
