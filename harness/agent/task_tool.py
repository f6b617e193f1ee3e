"""Sub-agents: a tool with which the model hands a part of its work to another loop.

One count for a whole turn limits their number. A sub-agent has no store; its last text is the
result of the call. They work one after another, or in the background (`background_tasks`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any

from harness.agent.agent_loop import Loop
from harness.agent.background_tasks import BackgroundTasks
from harness.agent.conversation.history_size import fit
from harness.agent.conversation.projection import Projection, project
from harness.agent.models.model_call import LanguageModel
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.toolbox import Toolbox
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Tool, ToolError
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, user

TASK_TOOL = "task"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"prompt": {"type": "string", "description": "All that it has to know."}},
    "required": ["prompt"],
}
BESIDE = {"type": "boolean", "description": "Whether it works on while you go on yourself."}


class Tasks:
    """The sub-agents of one turn; `session` is the session of the turn, and the sub-agents'
    sessions are named after it.

    `model_of` gives the model for a session and its parent, `loop_of` a loop for a sub-agent.
    """

    def __init__(
        self,
        session: str,
        model_of: Callable[[str, str], LanguageModel],
        loop_of: Callable[[TaskTranscript, LanguageModel, Toolbox], Loop],
        policy: Policy,
        project: Projection = project,
        background: BackgroundTasks | None = None,
    ) -> None:
        self._session, self._policy, self._project = session, policy, project
        self._background = background
        self._model_of, self._loop_of = model_of, loop_of
        self._numbers = count(1)

    def offered(self, tools: Toolbox, parent: str = "", depth: int = 0) -> Toolbox:
        """The tools, with the one that makes a sub-agent unless the depth limit is reached."""
        if depth >= self._policy.max_depth:
            return tools
        above = parent or self._session
        # What a sub-agent starts has to end with it: nothing takes its result in afterwards.
        background = None if depth else self._background
        given = {**SCHEMA["properties"], **({"background": BESIDE} if background else {})}

        def task(input: dict[str, Any], *, id: str) -> str:
            prompt, number = str(input.get("prompt", "")), next(self._numbers)
            if not prompt.strip():
                raise ToolError("Not run: the prompt is empty.")
            if number > self._policy.max_tasks:
                raise ToolError(f"Not run: {self._policy.max_tasks} tasks a message are the limit.")
            name = f"{self._session}-{id}"  # a number would come again in the next turn
            if background is not None and input.get("background") is True:
                work = partial(self._run, name, prompt, tools, above, depth + 1)
                return background.start(name, self._session, work)
            return self._run(name, prompt, tools, above, depth + 1)

        return tools.with_tool(
            Tool(
                TASK_TOOL,
                "Let another agent do a part of the work.",
                {**SCHEMA, "properties": given},
                task,
            )
        )

    def _run(self, session: str, prompt: str, tools: Toolbox, parent: str, depth: int) -> str:
        offered = self.offered(tools, session, depth)
        transcript = TaskTranscript(prompt, self._project)
        loop = self._loop_of(transcript, self._model_of(session, parent), offered)
        outcome = loop.run()
        if outcome.status != "ok":
            raise ToolError(outcome.text)
        return outcome.text


class TaskTranscript:
    """The history of a sub-agent, in memory."""

    def __init__(self, prompt: str, project: Projection = project) -> None:
        self.messages: Sequence[Message] = [user(prompt)]
        self._project = project
        self.joined: Sequence[Inbound] = ()

    def open(self, inbound: Inbound) -> bool:
        """Do nothing: a sub-agent gets only its prompt."""
        return False

    def join(self, inbound: Inbound) -> None:
        """Do nothing: no message comes to a sub-agent."""

    def resume(self, inbound: Inbound) -> int:
        """A sub-agent is not stored, so it cannot be resumed."""
        return 0

    def append(self, message: Message) -> None:
        """Add a message of the model, or results."""
        self.messages = [*self.messages, message]

    def wire(self, nudge: str = "") -> list[Message]:
        """The messages of the next request."""
        return self._project([*self.messages, *([user(nudge)] if nudge else [])])

    def compact(self, summary: Message, keep: int) -> None:
        """Continue with a summary and the last `keep` messages."""
        self.messages = [summary, *self.messages[-keep:]]

    def rebuild(self, budget_tokens: int) -> None:
        """Continue with the messages that fit."""
        self.messages = fit(self.messages, budget_tokens)

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Do nothing: a sub-agent stores no reply."""
