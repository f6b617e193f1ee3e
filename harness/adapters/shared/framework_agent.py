"""Which framework an object is of, by its class: no framework is imported to find out.

An adapter is a file with a table beside it: `graph_thread.toml` for `graph_thread.py`. The table
says how the objects are known. The file imports the framework, so it is imported for an object of
the framework alone.
"""

from __future__ import annotations

import base64
import inspect
import pkgutil
import tomllib
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from harness.core.values.brief import ToolError
from harness.core.values.calls import Approval
from harness.core.values.messages import Json, Message
from harness.core.values.profile import Capabilities, Profile
from harness.core.values.strict import Strict
from harness.core.values.table_file import package_text

FOLDER = "harness.adapters"

LACKS = Capabilities(
    session=False, store=False, own_store=False, cancel=False, compaction=False, sub_agents=False,
    outbox=False, restarts=False,
)  # fmt: skip
"""The connections that an agent does not have behind an adapter."""

PERSISTENT = msgspec.structs.replace(LACKS, session=None, restarts=None)
"""Those of an agent whose sessions the framework keeps in the run's folder."""


NOT_RUN = "Not run: the user has cancelled the turn."
"""What a model reads of a call that a cancel has overtaken."""


SESSION: ContextVar[str] = ContextVar("session", default="main")
"""The session of the turn: what a framework calls is told no session."""


class TurnCancelled(Exception):
    """The user has cancelled the turn: the agent asks its model no more."""


class Framework(Strict, frozen=True, kw_only=True):
    """The table of an adapter: how its objects are known, and what is declared of them.

    `adapter` is the function of the file, and the name of the framework. `file` is the module.
    `also` is the class of what holds such an object.
    """

    title: str
    adapter: str
    file: str = ""
    module: str = ""
    class_name: str = msgspec.field(default="", name="class")
    also: str = ""
    tried: str = ""
    options: dict[str, str | int | bool] = msgspec.field(default_factory=dict)
    isolate: bool = False
    profile: Profile = Profile()


async def converse(
    brief: Any,
    answer: Callable[[Any], Awaitable[str | None]],
    apology: Callable[[Exception], str | None],
) -> None:
    """Answer each message of the brief.

    `answer` takes a message and gives the text for the user; None for a turn that the user has
    cancelled. Of an error that it raises, `apology` gives the text for the user, and the next
    message comes; None for an error that goes on.
    """
    for message in brief.inbox():
        where = {"session": message.session, "in_reply_to": message.id}
        SESSION.set(message.session)
        try:
            text = await answer(message)
        except Exception as error:
            sorry = apology(error)
            if sorry is None:
                raise
            brief.send(sorry, kind="error", **where)
        else:
            if text is None:
                brief.send("Cancelled.", status="cancelled", **where)
            else:
                brief.send(text, **where)


def sorry_for(*kinds: type[Exception]) -> Callable[[Exception], str | None]:
    """The apology for errors of these classes, with their text."""
    return lambda error: f"Sorry: {error}" if isinstance(error, kinds) else None


def in_one_step(conversation: Coroutine[Any, Any, None]) -> None:
    """Carry out a conversation in which nothing waits: no event loop runs, so its code may run
    one."""
    try:
        conversation.send(None)
    except StopIteration:
        return


class FrameworkAgent:
    """An agent of a framework as a function of a brief.

    `wires` are those of the object's own model, () where it does not tell.
    """

    def __init__(
        self,
        framework: str,
        play: Callable[[Any], Any],
        wires: tuple[str, ...] = (),
        capabilities: Capabilities = LACKS,
        checks: dict[str, dict[str, Json]] | None = None,
    ) -> None:
        self.framework, self._play, self._wires = framework, play, wires
        self._capabilities, self._checks = capabilities, checks or {}

    def __call__(self, brief: Any) -> Any:
        """Play the messages of the brief."""
        return self._play(brief)

    @property
    def row(self) -> Framework:
        """What the table of the adapter says."""
        return frameworks()[self.framework]

    @property
    def profile(self) -> Profile:
        """What the adapter declares of the agent."""
        known = self.row.profile
        wires = self._wires or known.wires
        own = {"capabilities": self._capabilities, "checks": self._checks}
        return msgspec.structs.replace(known, wires=wires, **own)


def adapted(
    framework: str,
    play: Callable[[Any], Any],
    keeps: Any,
    *wires: str,
    cancels: bool = False,
    compacts: int | None = None,
    helps: bool = False,
) -> FrameworkAgent:
    """The agent whose own model speaks these wires; "" is the wire of one that does not tell.

    `keeps`: what the user gave for sessions in the run's folder, if anything. `cancels`: the
    framework has a cancel. `compacts`: from this number of tokens on it asks the model for
    summaries, which the profile knows; 0 for another moment, None for an agent that makes none.
    `helps`: the tool `task` lets another agent work.
    """
    has = PERSISTENT if keeps else LACKS
    more = {"cancel": cancels, "compaction": compacts is not None, "sub_agents": helps}
    has = msgspec.structs.replace(has, **{name: None for name, is_so in more.items() if is_so})
    checks = {"compaction_due": {"tokens": compacts}} if compacts else {}
    return FrameworkAgent(framework, play, tuple(filter(None, wires)), has, checks)


@cache
def frameworks() -> dict[str, Framework]:
    """The frameworks by the names of their adapters."""
    path = import_module(FOLDER).__path__
    files = [found.name for found in pkgutil.iter_modules(path) if not found.ispkg]
    rows = [_table(file) for file in files]
    return {row.adapter: row for row in rows}


def _table(file: str) -> Framework:
    row = msgspec.convert(tomllib.loads(package_text(FOLDER, f"{file}.toml")), type=Framework)
    return msgspec.structs.replace(row, file=f"{FOLDER}.{file}")


def agent_of(found: Any) -> FrameworkAgent | None:
    """The agent that an object of a framework is; None for an object of no framework."""
    if isinstance(found, FrameworkAgent):
        return found
    name = "text_function" if _takes_text(found) else _framework_of(type(found))
    if not name:
        return None
    adapter = getattr(import_module(frameworks()[name].file), name)
    made: FrameworkAgent = adapter(found)
    return made


def _framework_of(kind: type) -> str:
    known = [(name, row) for name, row in frameworks().items() if row.module]
    for parent in kind.__mro__:
        for name, row in known:
            within = f"{parent.__module__}.".startswith(f"{row.module}.")
            if within and parent.__name__ in (row.class_name, row.also):
                return name
    return ""


def _takes_text(found: Any) -> bool:
    """Whether the first parameter of a function is annotated as str."""
    if not inspect.isroutine(found):
        return False
    try:
        first = next(iter(inspect.signature(found).parameters.values()), None)
    except ValueError:
        return False
    return first is not None and first.annotation in (str, "str")


def answer_of(tool: Any, given: Any, id: str = "") -> Any:
    """What the tool says; raises ToolError for each failure, a lost connection too.

    A framework's own tools are functions with parameters, or those of an MCP server. Neither takes
    an input that is not an object: the model reads why.
    """
    if not isinstance(given, Mapping):
        raise ToolError("the input of the tool is not a JSON object")
    try:
        return tool.call(given, id=id)
    except (ToolError, RuntimeError, TimeoutError, ConnectionError) as error:
        raise ToolError(str(error)) from error


def with_pictures(
    answer: Any, picture: Callable[[bytes, str], Any], text: Callable[[str], Any] = str
) -> Any:
    """What a tool says in the framework's own values if it holds a picture, else as it is: the
    frameworks write a list of blocks as a text, and the model would read the file in letters."""
    blocks = answer if isinstance(answer, list) else []
    if not any(_is_picture(block) for block in blocks):
        return answer
    return [
        picture(base64.b64decode(block["source"]["data"]), block["source"]["media_type"])
        if _is_picture(block)
        else text(str(block.get("text", block)))
        for block in blocks
    ]


def _is_picture(block: Any) -> bool:
    source = block.get("source") if isinstance(block, dict) else None
    return isinstance(source, dict) and block["type"] == "image" and source["type"] == "base64"


def seed_of(brief: Any) -> list[Message]:
    """The messages that the run's session begins with."""
    seed = Path(brief.session_dir, "seed.jsonl")
    lines = seed.read_bytes().splitlines() if seed.exists() else []
    return [msgspec.json.decode(line, type=Message) for line in lines]


def wire_of_class(own: Any, classes: Mapping[str, str]) -> str:
    """The wire whose class an agent's own client or model is of; "" for one of another provider.

    `classes` are names by wire: a class is known by its name, as its module may not be installed.
    """
    parents = {parent.__name__ for parent in type(own).__mro__}
    return next((wire for wire, name in classes.items() if name in parents), "")


def api_error(wire: str) -> type[Exception]:
    """The error of the wire's client, which a framework lets through."""
    module, name = _API_ERRORS[wire]
    found: type[Exception] = getattr(import_module(module), name)
    return found


_API_ERRORS = {
    "anthropic": ("anthropic", "AnthropicError"),
    "openai-chat": ("openai", "OpenAIError"),
    "openai-responses": ("openai", "OpenAIError"),
    "gemini": ("google.genai.errors", "APIError"),
}
"""The module of each wire's client, which may not be installed, and its error."""


async def said_to(brief: Any, name: str, input: Any, *, id: str, session: str) -> Any:
    """What the user says to a call. An answer to another call is none, and so is silence of the
    channel: it has expired."""
    try:
        said = await brief.ask_async(name, input, id=id, session=session)
    except (TimeoutError, ConnectionError):
        return Approval(id, "expired")
    return said if said.id == id else Approval(id, "expired")


def refusal_of(said: Any) -> str:
    """What a model reads of a call that the user did not allow."""
    if said.answer == "deny":
        return f"Not run. The user says: {said.reason}"
    return "Not run. The user has not answered."


def decision_of(said: Any) -> dict[str, Any]:
    """What a tool that waits is told, in JSON: `input` to run with, or the words of a `refusal`."""
    return {"input": said.input} if said.answer == "allow" else {"refusal": refusal_of(said)}


def change_note(given: Any, allowed: Any) -> str:
    """What a model reads after the result of a call whose input the user has changed, else ""."""
    return "" if given == allowed else f"(the user changed the input to {allowed})"


async def may_run(brief: Any, name: str, input: Any, *, id: str, session: str) -> bool:
    """Whether the user allows a call just as it is, for a framework that takes a yes or a no."""
    said = await said_to(brief, name, input, id=id, session=session)
    return bool(said.answer == "allow" and said.input == input)
