"""Gemini CLI over ACP empties a session that is loaded in the minute in which it began."""

import json
import subprocess
import time

from bare_server import BareServer, say
from command_line import Program, ended

FULL_S = 35
"""From this second of a minute on the check waits for the next one."""


class Started:
    """A process of the program, and what it is asked."""

    def __init__(self, program):
        words = [program.path, "--experimental-acp", "-m", "gemini-2.5-pro", "--skip-trust"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(
            words, cwd=program.work, env=program.env, text=True, **pipes
        )
        can = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        self.asked("initialize", protocolVersion=1, clientCapabilities=can)

    def asked(self, method, **params):
        """The answer to a request; the name of the method is its id."""
        request = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        news = (json.loads(line) for line in self.process.stdout if line.startswith("{"))
        return next(m for m in news if m.get("id") == method and "method" not in m)

    def end(self):
        """End it as an editor does that is closed."""
        self.process.stdin.close()
        self.process.wait(60)


with BareServer([say("Good morning.")]) as server, Program("gemini", server) as program:
    time.sleep(60 - time.time() % 60 if time.time() % 60 > FULL_S else 0)
    given = {"cwd": str(program.work), "mcpServers": []}
    first = Started(program)
    session = first.asked("session/new", **given)["result"]["sessionId"]
    prompt = [{"type": "text", "text": "Good morning"}]
    first.asked("session/prompt", sessionId=session, prompt=prompt)
    first.end()
    second = Started(program)
    answer = second.asked("session/load", sessionId=session, **given)
    second.end()
    version = program.version

problem = answer.get("error", {}).get("data", {}).get("details", "")
ended("No previous sessions" in problem, version, f"session/load answers: {problem or 'loaded'}")
