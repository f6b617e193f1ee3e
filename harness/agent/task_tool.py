"""Sub-agents: a tool with which the model hands a part of its work to another loop.

One count for a whole turn limits their number. A sub-agent has no store; its last text is the
result of the call. They work one after another, or in the background.

Sub-agents that work in the background: their results wait here until a turn takes them in.

A result is stored as a message of the session before the model reads it, so a restart loses none
that was given. A sub-agent itself dies with its process. The stored history shows that: it has the
start and no end, and the next turn tells the model so.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any, Literal, TypeAlias

from harness.agent.agent_loop import Loop
from harness.agent.conversation.history_size import fit
from harness.agent.conversation.projection import Projection, project
from harness.agent.models.model_call import LanguageModel
from harness.agent.sessions.transcript import SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.toolbox import Toolbox
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Tool, ToolError
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, user
from harness.stores import SessionStore

STARTED = "Started in the background as {0}. Its result comes in a later message."
ENDED, FAILED = "[{0} has ended]\n{1}", "[{0} has failed]\n{1}"
LOST = "[{0} was lost when the agent was restarted, and has not finished]"

_STARTED = re.compile(re.escape(STARTED).replace(r"\{0\}", r"(\S+)"))
_TOLD = re.compile(r"^\[(\S+) (?:has ended|has failed|was lost)", re.MULTILINE)

TakesIn: TypeAlias = Literal["queue", "steer"]
"""When a turn takes in what has ended: with its first request only, or with each."""


class BackgroundTasks:
    """The sub-agents of one process, and the messages of those that have ended, by session."""

    def __init__(self, takes_in: TakesIn, store: SessionStore) -> None:
        self._takes_in, self._store = takes_in, store
        self._threads: dict[str, threading.Thread] = {}
        self._ended: list[tuple[str, str]] = []
        self._stops: list[BaseException] = []
        self._looked = set[str]()

    def start(self, name: str, session: str, work: Callable[[], str]) -> str:
        """Let a sub-agent work for a session; return what its call tells the model at once."""
        thread = threading.Thread(target=self._work, args=(name, session, work), daemon=True)
        self._threads[name] = thread
        thread.start()
        return STARTED.format(name)

    def _work(self, name: str, session: str, work: Callable[[], str]) -> None:
        try:
            told = ENDED.format(name, work())
        except Exception as error:
            told = FAILED.format(name, str(error) or type(error).__name__)
        except BaseException as stop:  # the run is over: the thread of the turns raises it
            self._stops.append(stop)
            return
        self._ended.append((session, told))

    def take_in(self, transcript: SessionTranscript, session: str, is_first: bool) -> None:
        """Store what has ended for a session, before a request of its turn."""
        if not is_first and self._takes_in == "queue":
            return
        if session not in self._looked:
            self._looked.add(session)
            for name in self._lost(session):
                transcript.append(user(LOST.format(name)))
        for ended in [each for each in self._ended if each[0] == session]:
            transcript.append(user(ended[1]))
            self._ended.remove(ended)

    def _lost(self, session: str) -> list[str]:
        """The sub-agents of a process before this one that no message tells of."""
        started, told = dict[str, None](), set[str]()
        for row in self._store.rows(session):
            for result in row.message.tool_results:
                started |= dict.fromkeys(_STARTED.findall(result.text))
            told.update(_TOLD.findall(row.message.text))
        return [name for name in started if name not in told and name not in self._threads]

    def join(self) -> None:
        """Wait until all have ended. Raises what has stopped one of them."""
        for thread in list(self._threads.values()):
            thread.join()
        if self._stops:
            raise self._stops[0]


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
