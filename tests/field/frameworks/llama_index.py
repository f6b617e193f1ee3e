"""LlamaIndex: a FunctionAgent with its defaults, and a buffer for each session. `connected` keeps
the memories of its sessions in a database of the run's folder. `summing_up` keeps them in the
buffer that summarises what does not fit, before the small windows of scenarios are full."""

from __future__ import annotations

from pathlib import Path

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.memory import ChatSummaryMemoryBuffer, Memory
from llama_index.llms.openai import OpenAI
from llama_index.storage.chat_store.sqlite import SQLiteChatStore

from harness.adapters import llama_index


def _memory(name: str, folder: Path) -> Memory:
    return Memory.from_defaults(name, async_database_uri=f"sqlite+aiosqlite:///{folder}/memory.db")


def _summing_up(name: str, folder: Path) -> ChatSummaryMemoryBuffer:
    store = SQLiteChatStore.from_uri(f"sqlite+aiosqlite:///{folder}/buffer.db")
    return ChatSummaryMemoryBuffer.from_defaults(
        llm=_llm, token_limit=150, chat_store=store, chat_store_key=name
    )


_llm = OpenAI(model="gpt-4o", api_key="x")
agent = FunctionAgent(llm=_llm)
connected = llama_index(agent, _memory, agent)
summing_up = llama_index(agent, _summing_up, sums_up=True)
