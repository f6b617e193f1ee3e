"""A scenario that is built in Python: every mistake is one line that says what, where and how."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import (
    Fault,
    Inbound,
    InboxItem,
    InputError,
    Limits,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
    Use,
    load_scenarios,
)
from harness.files.scenario_values import checked_scenario, with_replies
from harness.pytest_plugin import Play
from tests.documents import ROOT, blocks

TALK = Scenario(name="talk", inbox=(InboxItem(text="Hi."),), script=(Turn(say="Yes."),))

FILE = """\
name: greeting
tools: {look: {script: [{ok: nothing, times: 2}]}}
inbox: Hello
script:
  - say: I look.
    blocks: [{type: tool_use, name: look}, {type: tool_use, name: look, input: {q: x}}]
  - {say: Nothing.}
faults:
  - {kind: http.status, status: 529, retry_after: 1, when: 2}
expect: {outcome: completed}
"""


def greeting(**more: Any) -> Scenario:
    """The scenario of the file, in Python."""
    fields: dict[str, Any] = {
        "name": "greeting",
        "tools": {"look": ToolScript(script=(ToolTurn(ok="nothing", times=2),))},
        "inbox": [InboxItem(text="Hello")],
        "script": [
            Turn(say="I look.", blocks=(Use("look"), Use("look", {"q": "x"}))),
            Turn(say="Nothing."),
        ],
        "faults": [Fault("http.status", status=529, retry_after=1, when=2)],
        **more,
    }
    return Scenario(**fields)


def test_it_is_the_scenario_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "greeting.yaml").write_text(FILE)
    (read,) = load_scenarios(tmp_path / "greeting.yaml")
    made = checked_scenario(greeting(expect=read.expect, folder=read.folder))
    blocks = [{"id": "", "input": {}, **block} for block in read.script[0].blocks]  # type: ignore[index]
    assert [dict(block) for block in made.script[0].blocks] == blocks  # type: ignore[index]
    assert (made.inbox, made.faults, made.tools) == (read.inbox, read.faults, read.tools)


@pytest.mark.real
def test_it_is_played() -> None:
    runs = Play([])(greeting(), "reference")
    assert [call.request.name for call in runs[0].history.trace.executions] == ["look", "look"]


@pytest.mark.real
def test_the_page_plays() -> None:
    page: dict[str, Any] = {}
    made = next(block for block in blocks(ROOT / "docs/pytest.md", "python") if "MEMORY" in block)
    exec(made, page)
    page["test_memory"](Play([]))


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "no scenario": (lambda: {"name": "x"}, "scenario: a path or a harness.Scenario, not dict"),
    "a dict for a turn": (
        lambda: greeting(script=({"say": "x"},)),
        "Scenario 'greeting': script[0]: a Turn, not dict {'say': 'x'}: Turn(say='Yes.')",
    ),
    "a text for a turn": (
        lambda: greeting(script=("x",)),
        "Scenario 'greeting': script[0]: a Turn, not str 'x': Turn(say='Yes.')",
    ),
    "a text for the inbox": (
        lambda: greeting(inbox="Hello"),
        "Scenario 'greeting': inbox: a tuple of InboxItem values, not str 'Hello'",
    ),
    "what the agent gets": (
        lambda: greeting(inbox=(Inbound(id="m"),)),
        "Scenario 'greeting': inbox[0]: an InboxItem, not Inbound",
    ),
    "a dict for a fault": (
        lambda: greeting(faults=({"kind": "http.status"},)),
        "Scenario 'greeting': faults[0]: a Fault, not dict {'kind': 'http.status'}: Fault('",
    ),
    "a dict for a tool": (
        lambda: greeting(tools={"look": {"script": []}}),
        "Scenario 'greeting': tools.look: a ToolScript, not dict {'script': []}: ToolScript(",
    ),
    "a dict for the limits": (
        lambda: greeting(limits={"model_calls": 3}),
        "Scenario 'greeting': limits: a Limits, not dict {'model_calls': 3}: Limits(...)",
    ),
    "a number for a text": (
        lambda: greeting(script=(Turn(say=3),)),  # type: ignore[arg-type]
        "Scenario 'greeting': script[0].say: expected `str | null`, got `int`",
    ),
    "a text for a number": (
        lambda: greeting(limits=Limits(model_calls="3")),  # type: ignore[arg-type]
        "Scenario 'greeting': limits.model_calls: expected `int`, got `str`",
    ),
    "what no file holds": (
        lambda: greeting(script=(Turn(use="look", input=object()),)),
        "Scenario 'greeting': what no scenario holds: ",
    ),
    "an unknown wire": (lambda: greeting(wire="openai"), "Scenario 'greeting': wire: no wire is n"),
    "an unknown check": (
        lambda: greeting(checks={"valid_reqest": {}}),
        "Scenario 'greeting': checks.valid_reqest: there is no check 'valid_reqest'; did you mean",
    ),
    "an unknown block": (
        lambda: greeting(script=(Turn(blocks=({"name": "look"},)),)),
        "Scenario 'greeting': script[0].blocks[0]: a block needs a `type`",
    ),
    "a path for a name": (
        lambda: greeting(name="../x"),
        "Scenario '../x': the name is that of a f",
    ),
    "no name": (lambda: Scenario(name=None), "Scenario '?': name: expected `str`, got"),  # type: ignore[arg-type]
    "an unknown fault": (
        lambda: Fault("http.stauts"),
        "Fault: fault 'http.stauts': unknown; did y",
    ),
    "an unknown setting": (
        lambda: Fault("http.status", stauts=529),
        "Fault: fault http.status: ",
    ),
    "a fault without a kind": (lambda: Fault(529), "Fault: the kind of a fault, not 529: Fault("),  # type: ignore[arg-type]
    "a fault that never strikes": (
        lambda: Fault("http.status", when=0),
        "Fault('http.status'): when: expected `int` >= 1",
    ),
    "a call without a name": (lambda: Use(""), "Use: the name of a tool, not '': Use('search', "),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line(name: str) -> None:
    make, said = MISTAKES[name]
    with pytest.raises(InputError) as raised:
        checked_scenario(make())
    assert str(raised.value).startswith(said)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"turn": 1}, "`reply` takes one of"),
        ({"hass": "x"}, "hass"),
        ({"has": "x", "session": "nobody"}, "there is no session 'nobody'"),
        ([{"has": "x"}, {"pattern": "("}], "no regular expression"),
    ],
)
def test_a_reply_that_cannot_be_asked_for(asked: Any, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        with_replies(TALK, asked)


def test_replies_are_asked_beside_those_of_the_scenario() -> None:
    first = with_replies(TALK, {"has": "a"})
    asked = with_replies(first, [{"has": "b"}, {"has": ["c"]}]).expect.replies
    assert [one.has for one in asked] == ["a", "b", ("c",)]


def test_play_tells_it_in_a_line() -> None:
    with pytest.raises(pytest.fail.Exception) as failed:
        Play([])(greeting(script=({"say": "x"},)), "reference")
    assert str(failed.value.msg).startswith("error: Scenario 'greeting': script[0]: a Turn, not ")
