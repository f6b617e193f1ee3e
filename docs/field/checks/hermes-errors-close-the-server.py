"""hermes-agent calls no tool of an MCP server after three errors that a tool of it told."""

import sys

from bare_server import BareServer, say
from hermes_server import HermesServer
from tool_server import ToolServer, offered


def find(given):
    raise LookupError("there is no customer of that name")


ANSWERS = [offered("find", {"name": name}) for name in ("Ada", "Bob", "Cleo")]
ANSWERS += [offered("list", {}), say("Dora and Emil.")]

with ToolServer({"find": find, "list": lambda given: "Dora, Emil"}) as tools:
    config = f'mcp_servers: {{shop: {{url: "{tools.url}"}}}}\n'
    with BareServer(ANSWERS) as model, HermesServer(model.url, "todo", config) as hermes:
        hermes.ask("Which customers have we?")
last = [m for m in model.bodies[-1]["messages"] if m["role"] == "tool"][-1]
called = [name for name, _ in tools.called]
print("called at the server:", called)
print("the result of the call of `list`, as the model gets it:", last["content"][-330:])
sys.exit(0 if "list" in called else 1)
