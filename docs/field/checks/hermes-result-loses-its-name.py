"""hermes-agent sends the results of tools with a `name`, and without it once they are reloaded."""

from __future__ import annotations

import sys

from bare_server import BareServer, call, say
from hermes_server import HermesServer

ANSWERS = [call("read_file", {"path": "/no/such/file"}), say("There is none."), say("Welcome.")]

with BareServer(ANSWERS) as model, HermesServer(model.url) as hermes:
    hermes.ask("Read my notes.")
    hermes.ask("Thank you.")
_, first, second = model.bodies
lists = [body["messages"] for body in (first, second)]
tools = [next(m for m in messages if m["role"] == "tool") for messages in lists]
print("keys of the result in its turn:      ", sorted(tools[0]))
print("keys of the result in the next turn: ", sorted(tools[1]))
begins = lists[1][: len(lists[0])] == lists[0]
print("the second turn begins with the messages of the first, unchanged:", begins)
sys.exit(0 if begins else 1)
