"""A sub-agent behind an adapter: the tool `task`, which lets another agent do a part of the work.

The pages of the frameworks show it as a tool that runs an agent and returns its last words. Its
requests name it and its parent, as those of any sub-agent do. It has the tools of the scenario.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextvars import copy_context
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

from harness.adapters.shared.framework_agent import NOT_RUN, SESSION
from harness.core.values.brief import ToolError

_CLIENTS = ("anthropic", "async_anthropic", "openai", "async_openai", "gemini", "base_url")


class ChildBrief:
    """The brief of a sub-agent: its clients name it. All else is its parent's, cancels too."""

    def __init__(self, brief: Any, session: str, parent: str) -> None:
        self._brief, self._parent = brief, parent
        self._child = brief.child(session, parent)
        self.headers = self._child.headers
        self.path = f"/s/{quote(session, safe='')}"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._child if name in _CLIENTS else self._brief, name)

    def cancelled(self, session: str = "") -> bool:
        """Whether the user has cancelled the turn in which the sub-agent works."""
        return bool(self._brief.cancelled(self._parent))


class Task:
    """The tool, beside those of the scenario.

    `chat_of` makes what answers a message of a sub-agent's brief. `apology` is that of the
    conversation: what an error says to the model.
    """

    name = "task"
    description = "Let another agent do a part of the work."
    input_schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {"prompt": {"type": "string"}},
        "required": ["prompt"],
    }
    needs_approval = False

    def __init__(
        self,
        brief: Any,
        chat_of: Callable[[Any], Callable[[Any], Awaitable[str | None]]],
        apology: Callable[[Exception], str | None],
    ) -> None:
        self._brief, self._chat_of, self._apology = brief, chat_of, apology

    async def answer(self, given: Any, id: str = "") -> str:
        """The last words of a new sub-agent. Raises ToolError where it has none."""
        # In another context, where the session is that of the sub-agent.
        return await asyncio.create_task(self._begun(given, id))

    def answer_at_once(self, given: Any, id: str = "") -> str:
        """As `answer`, where no event loop runs and nothing in the chat waits."""
        try:
            copy_context().run(self._begun(given, id).send, None)
        except StopIteration as end:
            return str(end.value)
        raise RuntimeError("the sub-agent waits for an event loop, and none runs")

    def _begun(self, given: Any, id: str) -> Coroutine[Any, Any, str]:
        prompt = given.get("prompt") if isinstance(given, Mapping) else None
        if not isinstance(prompt, str) or not prompt.strip():
            raise ToolError("Not run: the prompt is empty.")
        parent = SESSION.get()
        name = f"{parent}-{id or f'{random.getrandbits(64):016x}'}"
        message = SimpleNamespace(id=name, session=name, text=prompt, attempt=1)
        chat = self._chat_of(ChildBrief(self._brief, name, parent))
        return self._work(chat, message)

    async def _work(self, chat: Callable[[Any], Awaitable[str | None]], message: Any) -> str:
        SESSION.set(message.session)
        try:
            said = await chat(message)
        except Exception as error:
            if (sorry := self._apology(error)) is None:
                raise
            raise ToolError(sorry) from error
        if said is None:
            raise ToolError(NOT_RUN)
        return said
