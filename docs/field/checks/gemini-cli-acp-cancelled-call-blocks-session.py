"""Gemini CLI over ACP sends a cancelled call without its result in each later request."""

import json
import subprocess
import time

from bare_server import Answer, BareServer, say
from command_line import SHELL, Program, ended

tool, key = SHELL["gemini"]
WAIT_S = 60


def told(process):
    """Yield what the agent says; it may run its tools."""
    for line in process.stdout:
        if not line.startswith("{"):
            continue
        message = json.loads(line)
        if message.get("method") == "session/request_permission":
            chosen = {"outcome": {"outcome": "selected", "optionId": "proceed_once"}}
            write(process, id=message["id"], result=chosen)
        yield message


def write(process, **message):
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()


def asked(process, news, number, method, **params):
    """The answer to a request."""
    write(process, id=number, method=method, params=params)
    return next(m for m in news if m.get("id") == number and "method" not in m)


with BareServer() as server, Program("gemini", server) as program:
    calls = ((tool, {key: "touch begun"}), (tool, {key: "touch second; sleep 60"}))
    server.answers = [Answer(calls=calls), say("Yes."), say("Yes.")]
    words = [program.path, "--experimental-acp", "-m", "gemini-2.5-pro", "--skip-trust"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(words, cwd=program.work, env=program.env, text=True, **pipes)
    news = told(process)
    can = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
    asked(process, news, 0, "initialize", protocolVersion=1, clientCapabilities=can)
    new = asked(process, news, 1, "session/new", cwd=str(program.work), mcpServers=[])
    session = new["result"]["sessionId"]
    prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "Run both"}]}
    write(process, id=2, method="session/prompt", params=prompt)
    until = time.monotonic() + WAIT_S
    for _ in news:
        if (program.work / "begun").exists() or time.monotonic() > until:
            break
    time.sleep(2)
    write(process, method="session/cancel", params={"sessionId": session})
    next(m for m in news if m.get("id") == 2 and "method" not in m)
    for number, text in ((3, "Are you there?"), (4, "And now?")):
        prompt["prompt"] = [{"type": "text", "text": text}]
        asked(process, news, number, "session/prompt", **prompt)
    version = program.version
    process.kill()

parts = [part for turn in server.bodies[-1]["contents"] for part in turn["parts"]]
made, results = (sum(k in p for p in parts) for k in ("functionCall", "functionResponse"))
ended(made > results, version, f"after a cancel {made} calls and {results} results in the request")
