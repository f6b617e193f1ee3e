"""strands-agents: does a call whose input cannot be read run with no input? 1: yes, 0: no."""

import sys

from bare_server import BareServer, call, say

try:
    from strands import Agent, tool
    from strands.models.openai import OpenAIModel
except ImportError as missing:
    print(f"not installed: {missing} (pip install 'strands-agents[openai]')")
    sys.exit(2)

deleted = []


@tool
def delete(folder: str = "all folders") -> str:
    """Delete the files of a folder; without one, of all folders."""
    deleted.append(folder)
    return "deleted"


seen = 0
for what, given, cut in (
    ("not JSON", '{"folder": "tmp", "force": tru', False),
    ("its stream ends too early", '{"folder": "tm', True),
):
    deleted.clear()
    with BareServer([call("delete", given, cut=cut), say("Done.")]) as server:
        args = {"api_key": "dummy", "base_url": f"{server.url}/v1"}
        model = OpenAIModel(client_args=args, model_id="fake")
        made = Agent(model, tools=[delete], callback_handler=None)("Delete the folder tmp.")
    print(f"{what}: the model gave {given!r}; deleted: {deleted}, stop reason: {made.stop_reason}")
    seen += bool(deleted)
sys.exit(1 if seen else 0)
