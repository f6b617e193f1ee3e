"""agno on Claude: is an empty text beside a call sent back to the API? 1: yes, 0: no."""

import sys

from bare_server import BareServer, call, say

try:
    from agno.agent import Agent
    from agno.models.anthropic import Claude
except ImportError as missing:
    print(f"not installed: {missing} (pip install agno anthropic)")
    sys.exit(2)


class Empty(str):
    """The text of a block that holds nothing: the server leaves out a text that is false."""

    def __bool__(self):
        return True


def look_up(name: str) -> str:
    """Look a person up."""
    return "a mathematician"


with BareServer([call("look_up", {"name": "Ada"}, text=Empty()), say("Ada.")]) as server:
    model = Claude(id="fake", api_key="dummy", client_params={"base_url": server.url})
    Agent(model=model, tools=[look_up], telemetry=False).run("Who is Ada?")
blocks = server.bodies[-1]["messages"][1]["content"]
print(f"the answer had an empty text and a call; sent back: {blocks}")
sys.exit(1 if any(b["type"] == "text" and not b["text"] for b in blocks) else 0)
