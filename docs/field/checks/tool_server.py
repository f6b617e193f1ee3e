"""An MCP server over HTTP for the hand checks: the standard library alone.

    with ToolServer({"find": lambda given: "Dora"}) as tools:
        run_the_agent(mcp_url=tools.url)
    print(tools.called)      # (name, arguments) of each call, in order

A tool that raises tells the text of the exception as an error. Each tool takes a `folder` and a
`name`, and requires none of them.
"""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler

from bare_server import LoopbackServer, call

SCHEMA = {"type": "object", "properties": {n: {"type": "string"} for n in ("folder", "name")}}


class ToolServer(LoopbackServer):
    """An MCP server on loopback, with these tools: a function of the arguments each."""

    def __init__(self, tools):
        self.tools, self.called = tools, []
        super().__init__(type("H", (_Handler,), {"tools": self}))
        self.url += "/mcp"

    def initialize(self, params):
        server = {"name": "shop", "version": "1"}
        version = params.get("protocolVersion")
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}

    def list(self, _):
        rows = [{"name": n, "description": n, "inputSchema": SCHEMA} for n in self.tools]
        return {"tools": rows}

    def call(self, params):
        given = params.get("arguments") or {}
        self.called.append((params["name"], given))
        try:
            text, failed = self.tools[params["name"]](given), False
        except Exception as error:
            text, failed = str(error), True
        return {"content": [{"type": "text", "text": text}], "isError": failed}


class _Handler(BaseHTTPRequestHandler):
    tools: ToolServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Print nothing."""

    def do_GET(self):
        self._send(405, b"")

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in asked:
            return self._send(202, b"")
        does = {
            "initialize": self.tools.initialize,
            "tools/list": self.tools.list,
            "tools/call": self.tools.call,
        }.get(asked.get("method"))
        value = does(asked.get("params") or {}) if does else {}
        said = {"jsonrpc": "2.0", "id": asked["id"], "result": value}
        return self._send(200, json.dumps(said).encode())

    def _send(self, status, data):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def offered(name, given, **more):
    """An answer that calls a tool of the server by the name that the agent offers it under."""

    def answer(body):
        tools = [each.get("function", each) for each in body.get("tools") or []]
        return call(next(t["name"] for t in tools if t["name"].endswith(f"_{name}")), given, **more)

    return answer
