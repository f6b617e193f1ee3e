"""hermes-agent calls no tool of an MCP server after three errors that a tool of it told."""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from bare_server import BareServer, call, say
from hermes_server import HermesServer

CALLED = []
NAMES = ("find", "list")


class Tools(BaseHTTPRequestHandler):
    """An MCP server over HTTP: `find` tells an error, `list` works."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Print nothing."""

    def do_GET(self):
        self._send(405, b"")

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method = asked.get("method")
        if "id" not in asked:
            return self._send(202, b"")
        result = {"initialize": _initialize, "tools/list": _list, "tools/call": _call}.get(method)
        value = result(asked.get("params") or {}) if result else {}
        said = {"jsonrpc": "2.0", "id": asked["id"], "result": value}
        return self._send(200, json.dumps(said).encode())

    def _send(self, status, data):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _initialize(params):
    server = {"name": "shop", "version": "1"}
    return {"protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}},
            "serverInfo": server}  # fmt: skip


def _list(_):
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    return {"tools": [{"name": n, "description": n, "inputSchema": schema} for n in NAMES]}


def _call(params):
    CALLED.append(params["name"])
    failed = params["name"] == "find"
    text = "there is no customer of that name" if failed else "Dora, Emil"
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def tool(name, given):
    """A call of a tool by the name that the agent offers it under."""

    def answer(body):
        offered = [each["function"]["name"] for each in body.get("tools") or []]
        return call(next(n for n in offered if n.endswith(f"_{name}")), given)

    return answer


TOOLS = ThreadingHTTPServer(("127.0.0.1", 0), Tools)
threading.Thread(target=TOOLS.serve_forever, daemon=True).start()
CONFIG = f'mcp_servers: {{shop: {{url: "http://127.0.0.1:{TOOLS.server_port}/mcp"}}}}\n'
ANSWERS = [tool("find", {"name": name}) for name in ("Ada", "Bob", "Cleo")]
ANSWERS += [tool("list", {}), say("Dora and Emil.")]

with BareServer(ANSWERS) as model, HermesServer(model.url, "todo", CONFIG) as hermes:
    hermes.ask("Which customers have we?")
last = [m for m in model.bodies[-1]["messages"] if m["role"] == "tool"][-1]
print("called at the server:", CALLED)
print("the result of the call of `list`, as the model gets it:", last["content"][-330:])
sys.exit(0 if "list" in CALLED else 1)
