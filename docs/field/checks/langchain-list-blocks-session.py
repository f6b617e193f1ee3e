"""langchain on Claude, streamed, with a checkpointer: does a list as the input of a call go out in
each later request of the thread? 1: yes, 0: no."""

import sys

from bare_server import BareServer, call, say

try:
    from langchain.agents import create_agent
    from langchain_anthropic import ChatAnthropic
    from langgraph.checkpoint.memory import InMemorySaver
except ImportError as missing:
    print(f"not installed: {missing} (pip install langchain langchain-anthropic)")
    sys.exit(2)


def pay(bill: str) -> str:
    """Pay a bill."""
    return "paid"


with BareServer([call("pay", '["17"]'), say("Hello."), say("Yes.")]) as server:
    model = ChatAnthropic(model="claude-sonnet-5", api_key="dummy", base_url=server.url)
    bot = create_agent(model, [pay], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "one"}}
    for words in ("Pay bill 17.", "Hello?", "Are you there?"):
        asked = {"messages": [{"role": "user", "content": words}]}
        list(bot.stream(asked, thread, stream_mode=["values", "messages"]))
contents = [m["content"] for body in server.bodies for m in body["messages"]]
blocks = [block for each in contents if isinstance(each, list) for block in each]
lists = [b["input"] for b in blocks if b["type"] == "tool_use" and isinstance(b["input"], list)]
print(f"requests: {len(server.bodies)}; inputs that are lists: {lists}")
sys.exit(1 if lists else 0)
