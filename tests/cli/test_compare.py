"""`run --compare`: the same answers, written otherwise, lead to the same calls and words."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Harness

SCENARIO = """
name: bowl
policy: open
tools: {look: {description: Look, script: [{ok: seven red apples}]}}
inbox: What is in the bowl?
script: [{use: look, input: {at: bowl}}, {say: There are seven red apples.}]
"""

AGENT = """
def _answer(client, options, **request):
    if options.get("stream"):
        with client.messages.stream(**request) as stream:
            return stream.get_final_message()
    return client.messages.create(**request)


def agent(brief, note="", other=""):
    client, tools = brief.anthropic(), {tool.name: tool for tool in brief.tools}
    offered = [{"name": t.name, "description": t.description, "input_schema": t.input_schema}
               for t in tools.values()]
    for message in brief.inbox():
        said = [{"role": "user", "content": message.text}]
        while True:
            reply = _answer(client, brief.options, model="m", max_tokens=9, messages=said,
                            tools=offered)
            calls = [block for block in reply.content if block.type == "tool_use"]
            if not calls:
                break
            said.append({"role": "assistant", "content": [
                {"type": "tool_use", "id": c.id, "name": c.name, "input": c.input} for c in calls]})
            results = [
                {"type": "tool_result", "tool_use_id": call.id,
                 "content": tools[call.name].call(call.input, id=call.id)} for call in calls]
            said.append({"role": "user", "content": results})
        text = reply.content[0].text
        if brief.options.get("stream"):
            text = (other or text) + note
        brief.send(text, in_reply_to=message.id)


def marks(brief):
    agent(brief, note=" (as it came)")


def careless(brief):
    agent(brief, other="No.")
"""


@pytest.fixture
def compare(harness: Harness, folder: Path) -> Harness:
    (folder / "bowl.yaml").write_text(SCENARIO)
    (folder / "short.yaml").write_text(SCENARIO.replace("There are seven red apples.", "Yes."))
    (folder / "writers.py").write_text(AGENT)
    return harness


@pytest.mark.real
@pytest.mark.parametrize("agent", ["agent", "marks"])
def test_an_agent_that_does_the_same_passes(compare: Harness, agent: str) -> None:
    done = compare("run", "bowl.yaml", "--compare", "--json", "--target", f"writers:{agent}")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["name"], row["verdict"]) for row in rows] == [
        ("bowl", "pass"),
        ("bowl+stream", "pass"),
        ("bowl/in-pieces+stream", "pass"),
    ]


@pytest.mark.real
def test_an_agent_that_says_something_else_in_a_stream_is_told(compare: Harness) -> None:
    words = ("run", "short.yaml", "--target", "writers:careless", "--json")
    rows = [json.loads(line) for line in compare(*words, "--compare").stdout.splitlines()]
    codes = [[finding["code"] for finding in row["findings"]] for row in rows]
    assert codes == [[], ["run.writing"], ["run.writing"]]
    assert "it says 'No.'" in rows[1]["findings"][0]["message"]
    assert "run" not in rows[1].get("passed", ())
    assert compare(*words).returncode == 0


@pytest.mark.real
def test_the_command_repeats_the_comparison(compare: Harness) -> None:
    first = compare("run", "bowl.yaml", "--compare", "--target", "writers:careless")
    (command,) = (line for line in first.stdout.splitlines() if line.startswith("repeat:"))
    again = compare(*shlex.split(command.removeprefix("repeat:"))[1:])
    assert again.returncode == first.returncode == 1
    assert "--compare" in command
