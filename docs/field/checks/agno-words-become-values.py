"""agno: does a tool get the text "None" as the model gave it? 1: no, 0: yes."""

import sys

from bare_server import BareServer, call, say

try:
    from agno.agent import Agent
    from agno.models.openai import OpenAIChat
except ImportError as missing:
    print(f"not installed: {missing} (pip install agno openai)")
    sys.exit(2)

got = []


def rename(title: str | None = None) -> str:
    """Rename the note; without a title it loses its title."""
    got.append(title)
    return "renamed"


given = ["None", "null", "True", "other"]
answers = [call("rename", {"title": title}) for title in given]
with BareServer([*answers, say("Done.")]) as server:
    model = OpenAIChat(id="fake", api_key="dummy", base_url=f"{server.url}/v1")
    made = Agent(model=model, tools=[rename], telemetry=False).run("Rename the note.")
print(f"the model gave {given}, the tool got {got}")
results = [one for one in server.bodies[-1]["messages"] if one["role"] == "tool"]
print(f"the model was told: {[one['content'].splitlines()[0] for one in results]}")
sys.exit(0 if got == given else 1)
