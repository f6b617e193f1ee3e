"""LlamaIndex: a FunctionAgent with its defaults, and a buffer for each session. `connected` keeps
the memories of its sessions in a database of the run's folder."""

from __future__ import annotations

from pathlib import Path

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.memory import Memory
from llama_index.llms.openai import OpenAI

from harness.adapters import llama_index


def _memory(name: str, folder: Path) -> Memory:
    return Memory.from_defaults(name, async_database_uri=f"sqlite+aiosqlite:///{folder}/memory.db")


agent = FunctionAgent(llm=OpenAI(model="gpt-4o", api_key="x"))
connected = llama_index(agent, _memory)
