"""LlamaIndex: does a call whose input cannot be read run with no input? 1: yes, 0: no."""

import asyncio
import sys

from bare_server import BareServer, call, say

try:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.llms.openai import OpenAI
except ImportError as missing:
    print(f"not installed: {missing} (pip install llama-index-core llama-index-llms-openai)")
    sys.exit(2)

deleted = []


def delete(folder: str = "all folders") -> str:
    """Delete the files of a folder; without one, of all folders."""
    deleted.append(folder)
    return "deleted"


async def ask(url):
    model = OpenAI(model="gpt-4o", api_key="dummy", api_base=f"{url}/v1", max_retries=0)
    return await FunctionAgent(tools=[delete], llm=model).run("Delete the folder tmp.")


seen = 0
for what, given, cut in (
    ("not JSON", '{"folder": "tmp", "force": tru', False),
    ("its stream ends too early", '{"folder": "tm', True),
):
    deleted.clear()
    with BareServer([call("delete", given, cut=cut), say("Done.")]) as server:
        made = asyncio.run(ask(server.url))
    print(f"{what}: the model gave {given!r}; deleted: {deleted}, answer: {str(made)!r}")
    seen += bool(deleted)
sys.exit(1 if seen else 0)
