"""`harness mcp`: offers verbs to a coding agent as tools, over MCP on standard input and output.

A tool is a verb with the few options that an agent needs (`mcp_tools.tsv`). Each call starts one
command in the folder of the server. The command prints nothing into the protocol, and ends like one
at Ctrl-C when its client cancels the call.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

import click
import msgspec

from harness.cli.options import every_verb, named_plugins
from harness.core.values.table_file import table

if TYPE_CHECKING:
    from harness.core.scenario.scenario import ToolScript
    from harness.core.values.messages import Json
    from harness.core.values.plans import ToolAnswer

TEXT_MAX = 30_000
"""The most characters of a report that a tool gives; the first lines say what matters most."""

COLUMNS = "120"
"""The width of the reports: a model reads long lines better than wrapped ones."""

GRACE_S = 20.0
"""The time for a cancelled command to write what it knows, before it is killed."""


@click.command("mcp")
@named_plugins
@every_verb
def command(as_json: bool) -> int:
    """Offer init, run, show, explain, why, import, shrink and judge to a coding agent, over MCP.

    It is started by the agent and speaks on standard input and output. Its tools run commands
    in this folder, also those that a target names, with your permissions.
    """
    from harness.cli import terminal
    from harness.transports.mcp_stdio import serve
    from harness.transports.mcp_tools import tool_server

    # The commands of the harness keep descriptor 1 for results; the protocol is the result here.
    with redirect_stdout(terminal.results()):
        asyncio.run(serve(tool_server(offered(), _called)))
    return 0


class Argument(msgspec.Struct, frozen=True):
    """An argument of a tool, `verb.argument`, and the option of the verb that it becomes.

    `option` is empty for what stands without one, at the end of the command. `type` is that of
    JSON Schema; an array holds texts.
    """

    name: str
    type: str
    option: str = ""
    is_required: bool = False
    text: str = ""

    @property
    def schema(self) -> dict[str, Json]:
        """The JSON Schema of the value."""
        items: dict[str, Json] = {"items": {"type": "string"}} if self.type == "array" else {}
        return {"type": self.type, "description": self.text, **items}


def _arguments(verb: str) -> dict[str, Argument]:
    rows = table("harness.cli", "mcp_tools.tsv", Argument)
    return {
        name.partition(".")[2]: row for name, row in rows.items() if name.startswith(f"{verb}.")
    }


def offered() -> dict[str, ToolScript]:
    """Return the tools by name, each a verb of the command line."""
    from harness.cli.verbs import VERBS
    from harness.core.scenario.scenario import ToolScript

    rows = table("harness.cli", "mcp_tools.tsv", Argument)
    verbs = dict.fromkeys(name.partition(".")[0] for name in rows)
    return {verb: ToolScript(description=VERBS[verb], input_schema=_schema(verb)) for verb in verbs}


def _schema(verb: str) -> dict[str, Json]:
    found = _arguments(verb)
    return {
        "type": "object",
        "properties": {name: row.schema for name, row in found.items()},
        "required": [name for name, row in found.items() if row.is_required],
        "additionalProperties": False,
    }


_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float),
    "array": (list,),
}  # fmt: skip


def words_of(verb: str, given: Mapping[str, Json]) -> list[str]:
    """Return the words of the command. Raises ValueError, in words for a model, for wrong input."""
    known = _arguments(verb)
    for name in given:
        if name not in known:
            raise ValueError(f"{verb} has no argument {name}; it has {', '.join(known)}")
    for name, row in known.items():
        if row.is_required and not given.get(name):
            raise ValueError(f"{verb} needs {name}: {row.text}")
    options: list[str] = []
    others: list[str] = []
    for name, value in given.items():
        words = list(_words(known[name], name, value))
        (options if known[name].option else others).extend(words)
    # After `--` a name that begins with a dash is a name, and no option of ours.
    return [verb, *options, *(["--", *others] if others else [])]


def _words(row: Argument, name: str, value: Json) -> Iterator[str]:
    """Yield the words of one argument; a switch that is off has none."""
    texts = value if isinstance(value, list) else [value]
    # In Python a boolean is a number too.
    fits = isinstance(value, _TYPES[row.type]) and isinstance(value, bool) == (
        row.type == "boolean"
    )
    if not fits or (row.type == "array" and not all(isinstance(text, str) for text in texts)):
        raise ValueError(f"{name} is a JSON {row.type}: {row.text}")
    for text in texts if value is not False else ():
        yield row.option if text is True else f"{row.option}={text}" if row.option else str(text)


async def _called(name: str, given: Json, _id: str) -> ToolAnswer:
    """Run the command of a tool, and give what it prints with what its status means."""
    from harness.core.values.plans import ToolAnswer

    if name not in offered():
        return ToolAnswer(f"no tool is named {name}: {', '.join(offered())}", is_error=True)
    try:
        words = words_of(name, given if isinstance(given, dict) else {})
    except ValueError as error:
        return ToolAnswer(str(error), is_error=True)
    status, text = await _output(words)
    return ToolAnswer(_told(status, text), is_error=status not in (0, 1))


async def _output(words: list[str]) -> tuple[int, str]:
    """Run a command to its end; a cancelled one is told as by Ctrl-C, and waited for.

    `-P`: a `json.py` of the folder is not imported in place of ours, as in `child_command`.
    """
    env = {**os.environ, "COLUMNS": COLUMNS, "NO_COLOR": "1"}
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "harness", *words, env=env, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        printed, _ = await child.communicate()
    except asyncio.CancelledError:
        await _end(child)
        raise
    assert child.returncode is not None
    return child.returncode, printed.decode("utf-8", "replace")


async def _end(child: Any) -> None:
    """End a command whose answer is no longer wanted."""
    if child.returncode is None:
        child.send_signal(signal.SIGINT)
        try:
            await asyncio.wait_for(asyncio.shield(child.wait()), GRACE_S)
        except (TimeoutError, asyncio.CancelledError):
            child.kill()


def _told(status: int, text: str) -> str:
    from harness.cli.explanations import printed_words

    row = printed_words().get(str(status))
    means = f": {row.text}" if row else ""
    cut = f"\n[{len(text) - TEXT_MAX} more characters]" if len(text) > TEXT_MAX else ""
    return f"exit status {status}{means}\n\n{text[:TEXT_MAX].rstrip()}{cut}"
