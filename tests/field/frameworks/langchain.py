"""langchain's create_agent with a saver in memory. Its models take no transport: mount them.
`connected` and `connected_async` keep their checkpoints in the run's folder."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import aiosqlite
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from harness.adapters import langgraph


def _agent(tools: list[Any], saver: Any) -> Any:
    return create_agent(
        ChatAnthropic(model="claude-sonnet-5", api_key="x"), tools, checkpointer=saver
    )


def _in_memory(tools: list[Any]) -> Any:
    return _agent(tools, InMemorySaver())


def _in_folder(tools: list[Any], folder: Path) -> Any:
    return _agent(tools, SqliteSaver(sqlite3.connect(folder / "graph.db", check_same_thread=False)))


def _in_folder_async(tools: list[Any], folder: Path) -> Any:
    return _agent(tools, AsyncSqliteSaver(aiosqlite.connect(folder / "graph.db")))


def _helper(tools: list[Any], path: str, headers: dict[str, str]) -> Any:
    where = {"base_url": f"https://api.anthropic.com{path}", "default_headers": headers}
    model = ChatAnthropic(model="claude-sonnet-5", api_key="x", **where)
    return create_agent(model, tools, checkpointer=InMemorySaver())


agent = langgraph(_in_memory)
connected = langgraph(_in_folder, helper=_helper)
connected_async = langgraph(_in_folder_async, helper=_helper)
