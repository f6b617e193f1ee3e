"""hermes-agent runs the same failing call until its limit of iterations, by default."""

from __future__ import annotations

import sys

from bare_server import BareServer, call
from hermes_server import HermesServer, text_of

CALL = call("terminal", {"command": "cat /no/such/file"})

with BareServer([CALL] * 200) as model, HermesServer(model.url, "terminal") as hermes:
    _, value = hermes.ask("What stands in the file?")
results = [m for m in model.bodies[-1]["messages"] if m["role"] == "tool"]
print(f"the model asks for the same failing command each time: {len(model.bodies)} requests")
print("results that carry a warning:", sum("loop" in str(m["content"]) for m in results))
print("the last result:", str(results[-1]["content"])[-300:])
print(f"told to the user: {text_of(value)[:200]!r}")
sys.exit(1 if len(results) > 20 else 0)
