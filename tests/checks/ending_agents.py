"""Small agents that end a turn by a tool, or send the results of tools as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness import ToolError

Agent = Callable[[Any], None]

FINAL: dict[str, Any] = {
    "name": "final_result",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
}


class Chat:
    """One conversation with the model over its SDK."""

    def __init__(self, brief: Any, *own: dict[str, Any], prefix: str = "") -> None:
        self.client, self.messages = brief.anthropic(), list[dict[str, Any]]()
        self.offered = [
            {"name": prefix + t.name, "input_schema": t.input_schema} for t in brief.tools
        ]
        self.offered += own

    def hear(self, content: Any) -> None:
        """Add a message of the user."""
        self.messages.append({"role": "user", "content": content})

    def ask(self) -> Any:
        """Ask the model, keep its answer, and return it."""
        reply = self.client.messages.create(
            model="m", max_tokens=99, messages=self.messages, tools=self.offered
        )
        blocks = [block.model_dump(exclude_none=True) for block in reply.content]
        self.messages.append({"role": "assistant", "content": blocks})
        return reply


def result(call: Any, text: str, failed: bool = False) -> dict[str, Any]:
    """A result of a call."""
    return {"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": failed}


def structured(*, forgets: bool = False, says: str = "") -> Agent:
    """Its turns end by its own tool whose input is the answer."""

    def agent(brief: Any) -> None:
        chat = Chat(brief, *(() if brief.tools else (FINAL,)))
        for inbound in brief.inbox():
            chat.hear(inbound.text)
            [call] = [block for block in chat.ask().content if block.type == "tool_use"]
            if forgets:
                chat.messages.clear()
            else:
                chat.hear([result(call, "Final result processed.")])
                chat.messages.append({"role": "assistant", "content": "Done."})
            brief.send(says or str(call.input["city"]), in_reply_to=inbound.id)

    return agent


def submits(brief: Any) -> None:
    """Its only tool is a shell, and a command of it ends the turn."""
    [bash] = brief.tools
    for inbound in brief.inbox():
        chat, output = Chat(brief), ""
        chat.hear(inbound.text)
        while "SUBMIT" not in output:
            [call] = [block for block in chat.ask().content if block.type == "tool_use"]
            output = bash.call(call.input, id=call.id)
            chat.hear([result(call, output)])
        brief.send(output.removeprefix("SUBMIT\n"), in_reply_to=inbound.id)


def leaves_in_a_call(brief: Any) -> None:
    """It says that it is done when the model asks for a tool."""
    for inbound in brief.inbox():
        chat = Chat(brief, FINAL)
        chat.hear(inbound.text)
        chat.ask()
        brief.send("Done.", in_reply_to=inbound.id)


def reacts(shown: Callable[[str], str] = str) -> Agent:
    """It tells the model of results as text, and keeps the calls as text too."""

    def agent(brief: Any) -> None:
        tools, chat = {tool.name: tool for tool in brief.tools}, Chat(brief)
        for inbound in brief.inbox():
            chat.hear(inbound.text)
            reply = chat.ask()
            while calls := [block for block in reply.content if block.type == "tool_use"]:
                said = "".join(f"Action: {call.name} {call.input}\n" for call in calls)
                chat.messages[-1] = {"role": "assistant", "content": said}
                seen = [shown(_ran(tools[call.name], call)) for call in calls]
                chat.hear("\n".join(f"Observation: {text}" for text in seen))
                reply = chat.ask()
            brief.send(reply.content[-1].text, in_reply_to=inbound.id)

    return agent


def _ran(tool: Any, call: Any) -> str:
    try:
        return str(tool.call(call.input, id=call.id))
    except ToolError as error:
        return f"Error: {error}"
