"""`harness mcp`: the official client plays, explains and shrinks as a coding agent would."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters, stdio_client

from harness.cli.mcp import TEXT_MAX, _told, offered, words_of
from harness.cli.verbs import Verbs

Use = Callable[[Any], Awaitable[Any]]


def with_client(folder: Path, use: Use) -> Any:
    async def session() -> Any:
        program = StdioServerParameters(
            command=sys.executable, args=["-m", "harness", "mcp"], cwd=folder, env={**os.environ}
        )
        async with Client(stdio_client(program)) as client:
            return await use(client)

    return asyncio.run(asyncio.wait_for(session(), 120))


def test_every_tool_is_a_verb_and_every_argument_an_option_of_it() -> None:
    context = click.Context(click.Command("harness"))
    for name, tool in offered().items():
        command = Verbs().get_command(context, name)
        assert command is not None
        options = {word for option in command.params for word in option.opts}
        filled = {"string": "x", "boolean": True, "integer": 1, "number": 1.5, "array": ["x"]}
        given = {key: filled[row["type"]] for key, row in tool.input_schema["properties"].items()}
        used = {word.partition("=")[0] for word in words_of(name, given) if word.startswith("--")}
        assert used - {"--"} <= options


@pytest.mark.real
def test_an_agent_finds_the_defect_and_reads_what_it_means(folder: Path) -> None:
    async def use(client: Any) -> Any:
        names = [tool.name for tool in (await client.list_tools()).tools]
        run = await client.call_tool(
            "run", {"scenarios": ["scenarios"], "target": "agents:wrong", "only": ["greeting"]}
        )
        explained = await client.call_tool("explain", {"code": "no_progress_stop"})
        wrong = [
            await client.call_tool("run", {}),
            await client.call_tool("run", {"scenarios": ["x.yaml"], "tagret": "a:b"}),
            await client.call_tool("run", {"scenarios": ["--help"], "target": "agents:good"}),
            await client.call_tool("nothing", {}),
        ]
        return names, run, explained, wrong

    names, run, explained, wrong = with_client(folder, use)
    assert names == list(offered())
    assert not run.is_error
    assert run.content[0].text.startswith("exit status 1: A finding fails a run.\n\n")
    assert "FAIL greeting" in run.content[0].text
    assert not explained.is_error
    assert explained.content[0].text.startswith("exit status 0")
    assert all(each.is_error for each in wrong)
    said = [each.content[0].text for each in wrong]
    assert said[0].startswith("run needs scenarios: ")
    assert "no argument tagret" in said[1]
    assert said[2].startswith("exit status 2: ")
    assert said[3].startswith("no tool is named nothing: init, run")


def test_a_switch_that_is_off_is_no_word_and_a_dash_is_a_name() -> None:
    given = {"scenarios": ["-x", "a"], "last_failed": False, "only": ["a", "b"]}
    assert words_of("run", given) == ["run", "--only=a", "--only=b", "--", "-x", "a"]
    assert words_of("run", {**given, "last_failed": True})[1] != "--"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("import", {"file": "x", "name": "y", "at": True}),
        ("import", {"file": "x", "name": "y", "at": "1"}),
        ("run", {"scenarios": "x"}),
        ("run", {"scenarios": [1]}),
        ("run", {"scenarios": ["x"], "last_failed": 1}),
        ("explain", {"code": None}),
    ],
)
def test_a_value_of_another_type_is_refused_in_words(tool: str, given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"is a JSON|needs code"):
        words_of(tool, given)


@given(st.text(min_size=1))
def test_no_text_becomes_an_option(text: str) -> None:
    assert words_of("explain", {"code": text}) == ["explain", "--", text]
    assert words_of("run", {"scenarios": ["a"], "target": text})[1] == f"--target={text}"


def test_a_long_report_is_cut_with_a_note() -> None:
    told = _told(0, "x" * (TEXT_MAX + 5))
    assert told.endswith("x\n[5 more characters]")
    assert len(told) < TEXT_MAX + 500


@pytest.mark.real
def test_a_cancelled_call_ends_its_command(folder: Path) -> None:
    (folder / "slow.py").write_text(
        "import pathlib, time\n"
        "def agent(brief):\n"
        f"    pathlib.Path({str(folder / 'begun')!r}).write_text('')\n"
        "    while True: time.sleep(0.01)\n"
    )

    async def use(client: Any) -> None:
        run = {"scenarios": ["scenarios"], "target": "slow:agent"}
        call = asyncio.create_task(client.call_tool("run", run))
        while not (folder / "begun").exists():
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert (await client.call_tool("explain", {"code": "V4"})).content[0].text

    with_client(folder, use)
    left = [
        path.read_bytes()
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if path.parent.is_dir() and os.access(path, os.R_OK)
    ]
    assert not any(b"slow:agent" in words for words in left)
