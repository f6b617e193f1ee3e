"""agno on Claude: is the result of a tool that raises marked as an error? 1: no, 0: yes."""

import sys

from bare_server import BareServer, call, say

try:
    from agno.agent import Agent
    from agno.models.anthropic import Claude
except ImportError as missing:
    print(f"not installed: {missing} (pip install agno anthropic)")
    sys.exit(2)


def pay(order: str) -> str:
    """Pay an order."""
    return {"16": "paid"}[order]  # raises KeyError, whose text is the key


with BareServer([call("pay", {"order": "17"}), say("Order 17 is paid.")]) as server:
    model = Claude(id="fake", api_key="dummy", client_params={"base_url": server.url})
    made = Agent(model=model, tools=[pay], telemetry=False).run("Pay order 17.")
result = server.bodies[-1]["messages"][-1]["content"][0]
print(f"the tool raised KeyError; the model got {result}")
print(f"status: {made.status.value}, answer: {made.content!r}")
sys.exit(0 if result.get("is_error") or "error" in str(result["content"]).lower() else 1)
