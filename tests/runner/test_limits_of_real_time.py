"""A target that computes, one that loops, one that is stuck and one that backs off have four
names, in this process and over loopback."""

from __future__ import annotations

import queue
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.core.history.events import Ended
from harness.core.scenario.scenario import FaultSpec, InboxItem, Limits, Scenario, ToolScript, Turn
from harness.runner import Run, run
from tests.runner import agents, programs
from tests.runner.programs import program

HELLO = Scenario(
    name="hello",
    inbox=(InboxItem(text="hello"),),
    script=(Turn(say="Hello to you."),),
    limits=Limits(real_s=0.3),
)
OVERLOADED = FaultSpec(kind="http.status", often="forever", settings={"status": 529})


def _how(result: Run) -> tuple[str, list[str]]:
    last = result.history.events[-1]
    assert isinstance(last, Ended)
    return last.how, [f.code for f in result.verdict.findings if f.code.startswith(("ta", "li"))]


def _is_stuck(brief: Any) -> None:
    agents.ask(brief.anthropic(), "hello")
    queue.SimpleQueue[None]().get()


def _loops(brief: Any) -> None:
    while True:
        for _ in range(100):
            brief.cancelled()


@pytest.mark.parametrize("world", ["simulate", "supervise"])
@pytest.mark.parametrize(
    ("agent", "name"), [(agents.spins, "computes"), (_loops, "loops"), (_is_stuck, "hung")]
)
def test_the_names_of_agents_without_an_end(agent: Any, name: str, world: Any) -> None:
    result = run(HELLO, agent, world=world)
    assert _how(result) == (name, [f"target.{name}"])
    assert result.verdict.verdict == "fail"


COMPUTE = "ask('hello')\nwhile True: pass"
LOOP = """
while True:
    try: post(os.environ["ANTHROPIC_BASE_URL"] + "/nowhere", {})
    except Exception: pass
"""


@pytest.mark.parametrize(
    ("body", "name"), [(COMPUTE, "computes"), (LOOP, "loops"), (programs.HANG, "hung")]
)
def test_the_names_of_programs_without_an_end(tmp_path: Path, body: str, name: str) -> None:
    limits = Limits(real_s=0.5)
    result = run(msgspec.structs.replace(HELLO, limits=limits), program(tmp_path, body))
    assert _how(result) == (name, [f"target.{name}"])


PAUSES = """
for message in inbox():
    for pause_s in {pauses}:
        try: text = ask(message["text"])
        except Exception: time.sleep(pause_s)
        else: say(message, text)
"""


@pytest.mark.real
def test_a_program_that_backs_off_longer_than_the_limit_passes(tmp_path: Path) -> None:
    fault = FaultSpec(kind="http.status", when=1, settings={"status": 529})
    scenario = msgspec.structs.replace(HELLO, faults=(fault,), limits=Limits(real_s=1.0))
    result = run(scenario, program(tmp_path, PAUSES.format(pauses=[2.0, 0])))
    assert _how(result) == ("returned", [])


@pytest.mark.real
def test_a_program_that_backs_off_without_an_end_is_named(tmp_path: Path) -> None:
    limits = Limits(real_s=0.3, model_calls=1000)
    scenario = msgspec.structs.replace(HELLO, faults=(OVERLOADED,), limits=limits)
    result = run(scenario, program(tmp_path, PAUSES.format(pauses=[0.5] * 100)))
    assert _how(result) == ("backs_off", ["target.backs_off"])


def _reads_all(brief: Any) -> None:
    for message in brief.inbox():
        agents.ask(brief.anthropic(), message.text)
        "".join(brief.tools[0].call({}, id="a"))


def _keeps_all(brief: Any) -> None:
    for message in brief.inbox():
        agents.ask(brief.anthropic(), message.text)
        [{"text": part * 100} for part in brief.tools[0].call({}, id="a")]


@pytest.mark.parametrize(
    ("agent", "limits", "text"),
    [
        (_reads_all, Limits(), "read 64 MB of a tool's answer that has no end"),
        (_keeps_all, Limits(memory_mb=100), "more memory than limits.memory_mb = 100"),
    ],
)
def test_an_answer_without_an_end_takes_no_more_than_the_memory(
    agent: Any, limits: Limits, text: str
) -> None:
    scenario = msgspec.structs.replace(
        HELLO,
        tools={"search": ToolScript()},
        faults=(FaultSpec(kind="tools.endless"),),
        limits=limits,
    )
    played = run(scenario, agent)
    assert _how(played) == ("memory", ["limit.memory_mb"])
    assert text in played.verdict.findings[0].message
