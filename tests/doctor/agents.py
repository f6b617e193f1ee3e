"""One small agent with a switch for each thing that the doctor looks for.

`agent_with()` has all that a small agent can have; `agent_with(history=False)` lacks one thing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import msgspec

from harness import Brief, Inbound, Message, Text, Tool, ToolError

Row = dict[str, Any]


class Habits(msgspec.Struct, frozen=True, kw_only=True):
    """What the agent does; `ends_by` is a separate tool that ends a turn, "" for words."""

    streams: bool = True
    history: bool = True
    session: bool = True
    deduplicates: bool = True
    cancels: bool = True
    retries: bool = True
    redelivers: bool = True
    summarises: str = "Summarise the conversation so far, please."
    results_as_text: bool = False
    pools: bool = False
    prefix: str = ""
    renamed: str = ""
    ends_by: str = ""
    ends_after: str = ""


class SmallAgent:
    """One conversation."""

    def __init__(self, brief: Brief, habits: Habits) -> None:
        self.brief, self.habits = brief, habits
        self.client = brief.anthropic(max_retries=2 if habits.retries else 0)
        self.tools = {self.name(tool): tool for tool in brief.tools}
        self.rows: list[Row] = []
        self.seen: set[str] = set()
        self.is_loaded = not habits.session

    def name(self, tool: Tool) -> str:
        return self.habits.renamed if self.habits.renamed and tool.name == "bash" else (
            self.habits.prefix + tool.name
        )  # fmt: skip

    def turn(self, inbound: Inbound) -> None:
        if not self.habits.history:
            self.rows = []
        if not self.is_loaded:
            self.is_loaded = True
            stored = self.brief.store.load(inbound.session)
            self.rows = [{"role": r.message.role, "content": r.message.text} for r in stored]
        if self.habits.session:
            self.brief.store.accept(inbound, Message("user", (Text(inbound.text),)))
        self.rows.append({"role": "user", "content": inbound.text})
        try:
            self.send(self.answer(), inbound)
        except anthropic.APIError as error:
            self.send(f"Sorry: {error}", inbound, kind="error")

    def answer(self) -> str:
        while True:
            if self.habits.cancels and self.brief.cancelled():
                return ""
            reply = self.ask(self.rows)
            calls = [block for block in reply.content if block.type == "tool_use"]
            self.rows.append({"role": "assistant", "content": self.content(reply)})
            ends = {self.habits.ends_by, self.habits.ends_after} - {""}
            if not calls and not self.habits.ends_by:
                return str(reply.content[-1].text)
            if found := [call for call in calls if call.name in ends]:
                self.rows.append(self.results(found))
                return str(found[0].input)
            self.rows.append(self.results(calls))

    def content(self, reply: Any) -> Any:
        if self.habits.results_as_text:
            texts = [b.text if b.type == "text" else f"CALL {b.name}" for b in reply.content]
            return "\n".join(texts)
        return [block.model_dump(exclude_none=True) for block in reply.content]

    def ask(self, rows: list[Row]) -> Any:
        try:
            return self.request(rows)
        except anthropic.BadRequestError as error:
            if "too long" not in str(error) or not self.habits.summarises:
                raise
        asked = {"role": "user", "content": self.habits.summarises}
        past = [row for row in rows[:-1] if row["role"] != "system"]
        summary = self.request([*past, asked]).content[-1].text
        self.rows = [{"role": "user", "content": f"So far: {summary}\n{rows[-1]['content']}"}]
        return self.request(self.rows)

    def request(self, rows: list[Row]) -> Any:
        settings: dict[str, Any] = {"model": "m", "max_tokens": 500, "messages": rows}
        settings["tools"] = [*self.offered()]
        if self.habits.streams and self.brief.options.get("stream"):
            with self.client.messages.stream(**settings) as stream:
                return stream.get_final_message()
        return self.client.messages.create(**settings)

    def offered(self) -> Iterator[Row]:
        for name, tool in self.tools.items():
            yield {"name": name, "description": "a tool", "input_schema": tool.input_schema}
        if self.habits.ends_by:
            schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
            yield {"name": self.habits.ends_by, "description": "ends", "input_schema": schema}

    def results(self, calls: list[Any]) -> Row:
        if not calls:
            return {"role": "user", "content": "Please answer with a call of the final tool."}
        if self.habits.pools:
            with ThreadPoolExecutor() as pool:
                texts = list(pool.map(self.run, calls))
        else:
            texts = [self.run(call) for call in calls]
        if self.habits.results_as_text:
            return {"role": "user", "content": "\n".join(f"Observation: {t}" for t in texts)}
        blocks = [
            {"type": "tool_result", "tool_use_id": call.id, "content": text}
            for call, text in zip(calls, texts, strict=True)
        ]
        return {"role": "user", "content": blocks}

    def run(self, call: Any) -> str:
        if call.name not in self.tools:
            return "noted"
        try:
            return str(self.tools[call.name].call(call.input, id=call.id))
        except ToolError as error:
            return str(error)

    def send(self, text: str, inbound: Inbound, kind: Any = "final") -> None:
        for _ in range(2 if self.habits.redelivers else 1):
            try:
                self.brief.send(text or "Cancelled.", kind, in_reply_to=inbound.id)
                return
            except RuntimeError:
                continue


def agent_with(**habits: Any) -> Callable[[Brief], None]:
    """An agent with these habits."""

    def agent(brief: Brief) -> None:
        small = SmallAgent(brief, Habits(**habits))
        for inbound in brief.inbox():
            if small.habits.deduplicates and inbound.id in small.seen:
                continue
            small.seen.add(inbound.id)
            small.turn(inbound)

    return agent
