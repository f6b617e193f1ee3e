"""hermes-agent sends a request again, byte for byte, whose answer was cut at its length."""

from __future__ import annotations

import sys

from bare_server import BareServer, call
from hermes_server import HermesServer, text_of

CUT = call("read_file", '{"path": "notes', stop="length")

with BareServer([CUT] * 8) as model, HermesServer(model.url) as hermes:
    status, value = hermes.ask("Read my notes.")
same = [body for body in model.bodies if body == model.bodies[0]]
print(f"the answer to each request is a call that is cut off (finish_reason length): {status}")
print(f"{len(model.bodies)} requests, {len(same)} of them equal to the first,")
print(f"max_tokens of each: {[body.get('max_tokens') for body in model.bodies]}")
print(f"told to the user: {text_of(value)!r}")
sys.exit(1 if len(same) > 2 else 0)
