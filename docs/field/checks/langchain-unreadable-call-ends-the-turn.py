"""langchain on Chat Completions: does a call whose input is not JSON end the turn with an empty
answer, and the model reads nothing of it? 1: yes, 0: no."""

import sys

from bare_server import BareServer, call, say

try:
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI
except ImportError as missing:
    print(f"not installed: {missing} (pip install langchain langchain-openai)")
    sys.exit(2)


def book(city: str, nights: int) -> str:
    """Book a hotel."""
    return "booked"


broken = call("book", '{"city": "Rome" "nights": 2}')
with BareServer([broken, say("Booked.")]) as server:
    model = ChatOpenAI(model="gpt-5", api_key="dummy", base_url=server.url)
    asked = {"messages": [{"role": "user", "content": "Book two nights in Rome."}]}
    made = create_agent(model, [book]).invoke(asked)
answer = made["messages"][-1].text
print(f"requests: {len(server.bodies)}, answer: {answer!r}")
sys.exit(1 if len(server.bodies) == 1 and not answer else 0)
