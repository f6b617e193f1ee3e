"""SPEC: the specification of a target on the command line.

`reference`, `pkg.mod:callable`, `process:COMMAND`, `acp:COMMAND` or `http://HOST:PORT/run`; options
follow as in `reference?stream=false`. Names are import paths; `import_path` says where they are.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

import msgspec

from harness.adapters.shared.framework_agent import LACKS, FrameworkAgent, agent_of
from harness.core.values.errors import InputError, MachineLacks, nearest
from harness.core.values.profile import Capabilities, Profile
from harness.core.values.table_file import pairs
from harness.core.values.verdict import CrashPlace
from harness.import_path import import_from, shadow_of, shadowed_name
from harness.processes.thread_times import has_other_threads
from harness.targets.known import command_of, known, profile_of
from harness.targets.process_exits import ProcessExit, ProcessGuard
from harness.transports.sdk_clients import dummy_keys

_BUILT_IN = {"reference": "harness.agent:agent", "naive": "harness.agent.naive_agent:agent"}
_FORMS = pairs("harness.targets", "forms.tsv")
_UNDERSTOOD = (
    "supported are functions of a brief, agents of pydantic-ai, openai-agents, LangGraph and "
    "smolagents, tool runners of anthropic, and functions from str to str; docs/adapters.md shows "
    "how to add the next one"
)
_FRONT = Path(__file__).with_name("front.py")
_ACP_CLIENT = Path(__file__).with_name("acp_client.py")
_ACP = Profile(capabilities=Capabilities(session=False, store=False, outbox=False))
"""The protocol has no way to begin with a past, and names no message that a reply is for."""

# Only a `?` before NAME=VALUE pairs at the very end begins options; a command may hold others.
_OPTIONS = re.compile(r"\?([\w.-]+=[^?&\s]*(?:&[\w.-]+=[^?&\s]*)*)\Z")


class TargetSpec(msgspec.Struct, frozen=True):
    """A target: its text, its kind, and its options.

    `isolate`: Python code is called in a forked child. `past`: the form of the program's own
    sessions, in which a stored one is written. `profile`: the profile that follows from the kind of
    the target; the user's profile overrides it.
    """

    text: str
    kind: Literal["python", "process", "http"]
    agent: Callable[..., Any] | None = None
    command: tuple[str, ...] = ()
    url: str = ""
    options: dict[str, str | int | bool] = {}
    isolate: bool = False
    past: str = ""
    profile: Profile = Profile()

    @property
    def lasts(self) -> bool:
        """Whether the program plays one run after the other: its option `runs` is `many`."""
        return self.kind == "process" and self.options.get("runs") == "many"

    @property
    def reads_lines(self) -> bool:
        """Whether the program reads its messages from its standard input."""
        return self.kind == "process" and self.options.get("inbox") == "lines"

    @property
    def may_keep_state(self) -> bool:
        """Whether a run may leave something in modules that the next run of the process meets.

        Our own agents do not. A fork has none of the threads that the user's modules started, and
        they may be needed: such a target plays in the process of the other runs.
        """
        return (
            self.agent is not None
            and not self.agent.__module__.startswith("harness.agent")
            and not has_other_threads()
        )


class End(NamedTuple):
    """How a target ended, with the values of the ended event.

    `lack` is what the machine lacked: such an end is not the target's. `open_waits` are the places
    where the last silence found the target.
    """

    how: str
    exit_code: int | None = None
    text: str = ""
    frames: tuple[str, ...] = ()
    place: CrashPlace | None = None
    traceback: str = ""
    lack: MachineLacks | None = None
    open_waits: tuple[str, ...] = ()


def passed_limit(stop: str, text: str) -> End:
    """Return the end of a target that exceeded a limit; on a slow machine it is unknown."""
    return End("machine" if stop == "slow" else stop, None, text)


def names() -> dict[str, str]:
    """Return the forms of a specification, each with its meaning."""
    return dict(_FORMS)


def known_names() -> tuple[str, ...]:
    """Return the names of the agents that are known by name."""
    return (*_BUILT_IN, *known())


def of_callable(agent: Callable[..., Any], options: dict[str, Any] | None = None) -> TargetSpec:
    """Return a target for a function of a brief, or an object of a framework."""
    name = f"{getattr(agent, '__module__', '?')}:{getattr(agent, '__qualname__', 'agent')}"
    return _python_target(name, agent, dict(options or {}), name)


def _python_target(text: str, found: Any, options: dict[str, Any], place: str) -> TargetSpec:
    """Return a target for an imported object. Raises InputError for an object that is not an
    agent."""
    adapted = agent_of(found)
    if adapted is not None:
        known = {**adapted.row.options, **options}
        return TargetSpec(text, "python", adapted, options=known, profile=adapted.profile)
    if not callable(found):
        raise InputError(f"not an agent, but of the class {_kind_of(found)}; {_UNDERSTOOD}", place)
    return TargetSpec(text, "python", found, options=options)


def _kind_of(found: Any) -> str:
    """Return the class of an object with its public module."""
    kind = type(found)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def resolve(text: str) -> TargetSpec:
    """Return the target of a specification.

    Raises InputError if it names nothing that can be started.
    """
    bare, options = _split(text)
    if is_server(text):
        return TargetSpec(text, "http", url=bare, options=options)
    if is_program(text):
        _check_options(options, text)
        return _program(bare, options, text)
    if bare in known():
        command = command_of(bare, str(options.get("program", "")))
        return TargetSpec(
            text, "process", command=command, options=options, past=known()[bare].past.form,
            profile=profile_of(bare, options),
        )  # fmt: skip
    path = _BUILT_IN.get(bare, bare)
    if ":" not in path:
        what = f"no such target; {nearest(bare, {*known_names(), *_FORMS})}"
        raise InputError(what, f"target {text!r}")
    place = f"target {text!r}"
    found = _python_target(text, _import(path, place), options, place)
    isolate = isinstance(found.agent, FrameworkAgent) and found.agent.row.isolate
    return msgspec.structs.replace(found, isolate=isolate)


def _program(bare: str, options: dict[str, str | int | bool], text: str) -> TargetSpec:
    """Return a program, with the front that plays it where it knows nothing of a run."""
    words = _command(bare, text)
    if bare.startswith("acp:"):
        client = (sys.executable, "-I", str(_ACP_CLIENT), *words)
        return TargetSpec(text, "process", command=client, options=options, profile=_ACP)
    if "chat" not in options and not any("{text}" in word for word in words):
        return TargetSpec(text, "process", command=words, options=options)
    front = (sys.executable, "-I", str(_FRONT), *words)
    told = Profile(replies="text", capabilities=LACKS)
    return TargetSpec(text, "process", command=front, options=options, profile=told)


def is_program(text: str) -> bool:
    """Whether a specification names a program."""
    return text.startswith(("process:", "acp:"))


def is_server(text: str) -> bool:
    """Whether a specification names a server."""
    return text.startswith(("http://", "https://"))


def _split(text: str) -> tuple[str, dict[str, str | int | bool]]:
    found = _OPTIONS.search(text)
    if not found or _inside_quotes(text[: found.start()]):
        return text, {}
    pairs = (pair.partition("=") for pair in found.group(1).split("&"))
    return text[: found.start()], {key: _value(value) for key, _, value in pairs}


_CHOICES: dict[str, tuple[str, ...]] = {
    "runs": ("one", "many"), "inbox": ("ask", "lines"), "cancel": ("ask", "sigint"),
    "folder": ("own", "shared"),
}  # fmt: skip
"""The options of a target that set how the harness treats it, with their values."""


def _check_options(options: dict[str, str | int | bool], text: str) -> None:
    for name, choices in _CHOICES.items():
        if name in options and options[name] not in choices:
            what = f"{name}={options[name]}: {name} is {' or '.join(choices)}"
            raise InputError(what, f"target {text!r}")


def _inside_quotes(text: str) -> bool:
    """Whether a command ends inside a quoted word, where a following `?` starts no option."""
    try:
        shlex.split(text if is_program(text) else "")
    except ValueError:
        return True
    return False


def _value(text: str) -> str | int | bool:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else text


def _command(bare: str, text: str) -> tuple[str, ...]:
    try:
        command = tuple(shlex.split(bare.partition(":")[2]))
    except ValueError as error:
        raise InputError(f"the command cannot be read: {error}", f"target {text!r}") from None
    if not command:
        raise InputError(f"`{bare.partition(':')[0]}:` needs a command", f"target {text!r}")
    if shutil.which(command[0]) is None:
        raise InputError(f"no such program: {command[0]}", f"target {text!r}")
    return command


def _import(path: str, place: str) -> Any:
    module_name, _, attributes = path.partition(":")
    if module_name.endswith(".py") or "/" in module_name:
        name = module_name.removesuffix(".py").strip("./").replace("/", ".")
        raise InputError(f"a module, not a file: {name}:{attributes or 'agent'}", place)
    found: Any = _module(module_name, place)
    for name in attributes.split("."):
        if not hasattr(found, name):
            known = [known for known in dir(found) if not known.startswith("_")]
            way = shadow_of(module_name.partition(".")[0], os.getcwd()) or nearest(name, known)
            raise InputError(f"{module_name} has no {attributes!r}; {way}", place)
        found = getattr(found, name)
    return found


def _module(name: str, place: str) -> ModuleType:
    try:
        with ProcessGuard(restores=False), dummy_keys():  # many modules make a client
            return import_from(os.getcwd(), name)
    except (Exception, SystemExit, ProcessExit) as error:
        words = " ".join(str(error).split())
        why = f"; {shadow}" if (shadow := shadowed_name(error, os.getcwd())) else ""
        what = f"cannot be imported: {type(error).__name__}: {words}{why}"
        raise InputError(what, place) from error
