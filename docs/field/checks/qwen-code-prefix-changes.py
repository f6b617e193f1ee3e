"""Qwen Code changes the beginning of its requests from one message to the next."""

from bare_server import BareServer, say
from command_line import Program, ended

with BareServer() as server, Program("qwen", server) as program:
    server.answers = [program.shell("echo hi"), say("It says hi."), say("You are welcome.")]
    program.ask("Run echo hi")
    program.ask("Thank you")
    version = program.version

before, after = server.bodies[1]["messages"], server.bodies[2]["messages"]
pairs = enumerate(zip(before, after, strict=False))
first = next((n for n, (old, new) in pairs if old.get("content") != new.get("content")), None)
shown = [str(m[first]["content"])[-200:] for m in (before, after)] if first is not None else []
ended(first is not None, version, f"the first message that changes: {first}", *shown)
