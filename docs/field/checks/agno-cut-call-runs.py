"""agno on Claude, streamed: is a call run whose answer ended at `max_tokens`? 1: yes, 0: no."""

import sys

from bare_server import BareServer, call, say

try:
    from agno.agent import Agent
    from agno.models.anthropic import Claude
except ImportError as missing:
    print(f"not installed: {missing} (pip install agno anthropic)")
    sys.exit(2)

paid = []


def transfer(to: str, amount: int) -> str:
    """Transfer money."""
    paid.append(amount)
    return "transferred"


# The model meant 1500; its answer reached the limit of its length inside the number.
cut = call("transfer", '{"to": "Ada", "amount": 15', stop="max_tokens")
with BareServer([cut, say("Done.")]) as server:
    model = Claude(id="fake", api_key="dummy", client_params={"base_url": server.url})
    agent = Agent(model=model, tools=[transfer], telemetry=False)
    *_, made = agent.run("Transfer 1500 to Ada.", stream=True, yield_run_output=True)
print(f"transferred: {paid}, status: {made.status.value}, answer: {made.content!r}")
sys.exit(1 if paid else 0)
