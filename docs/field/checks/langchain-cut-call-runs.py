"""langchain on Claude, streamed: does a call run whose answer ended at `max_tokens`? 1: yes."""

import sys

from bare_server import BareServer, call, say

try:
    from langchain.agents import create_agent
    from langchain_anthropic import ChatAnthropic
except ImportError as missing:
    print(f"not installed: {missing} (pip install langchain langchain-anthropic)")
    sys.exit(2)

paid = []


def transfer(to: str, amount: int) -> str:
    """Transfer money."""
    paid.append(amount)
    return "transferred"


# The model meant 1500; its answer reached the limit of its length inside the number.
cut = call("transfer", '{"to": "Ada", "amount": 15', stop="max_tokens")
with BareServer([cut, say("Done.")]) as server:
    model = ChatAnthropic(model="claude-sonnet-5", api_key="dummy", base_url=server.url)
    bot = create_agent(model, [transfer])
    asked = {"messages": [{"role": "user", "content": "Transfer 1500 to Ada."}]}
    seen = list(bot.stream(asked, stream_mode=["values", "messages"]))
made = [state for mode, state in seen if mode == "values"][-1]
print(f"transferred: {paid}, answer: {made['messages'][-1].text!r}")
sys.exit(1 if paid else 0)
