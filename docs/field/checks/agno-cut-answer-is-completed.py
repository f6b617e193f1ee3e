"""agno: does a run say that its answer was cut at the limit of its length? 1: no, 0: yes."""

import sys

from bare_server import BareServer, say

try:
    from agno.agent import Agent
    from agno.models.openai import OpenAIChat
    from agno.run.base import RunStatus
except ImportError as missing:
    print(f"not installed: {missing} (pip install agno openai)")
    sys.exit(2)

with BareServer([say("Take 2 tablets, but never", stop="length")]) as server:
    model = OpenAIChat(id="fake", api_key="dummy", base_url=f"{server.url}/v1")
    made = Agent(model=model, telemetry=False).run("How many tablets?")
told = "length" in str(made.to_dict())
print(f"status: {made.status.value}, answer: {made.content!r}, tells the finish reason: {told}")
sys.exit(1 if made.status is RunStatus.completed and not told else 0)
