"""Claude Code sends a list that came as the input of a call back as a list, on every request."""

from bare_server import BareServer, call, say
from command_line import Program, ended

with BareServer() as server, Program("claude", server) as program:
    server.answers = [call("Bash", ["echo hi"]), say("I see.")]
    for text in ("Say hi", "Thank you", "Good bye"):
        program.ask(text)
    version = program.version

blocks = [b for body in server.bodies[1:] for m in body["messages"] for b in m["content"]]
inputs = [b["input"] for b in blocks if isinstance(b, dict) and b.get("type") == "tool_use"]
lists = sum(isinstance(value, list) for value in inputs)
ended(lists > 0, version, f"{lists} of {len(server.bodies) - 1} later requests hold a list")
