"""Scenarios to be shrunk, a talk and a loop; agents that fail in them; and what a command says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from harness.core.scenario.scenario import Scenario
from harness.files import load_scenarios

CHAT = """\
name: chat
title: A long talk
stream: both
window_tokens: 100000
inbox:
  - {id: m1, text: "Good morning, how are you?"}
  - {id: m2, text: "Please tell me all about the weather in Oslo."}
  - {id: m3, text: "Thank you very much."}
script:
  - {say: "I am well, thank you."}
  - {say: "It rains."}
  - {say: "You are welcome."}
variants:
  quiet: {inbox: "Good evening", script: [{say: "Good evening."}]}
"""

LOOP = """\
name: loop
seed: 3
inbox: Read the file, please.
tools:
  read:
    input_schema: {type: object, properties: {path: {type: string}}}
    script: [{error: no such file, times: forever}]
script:
  - {use: read, input: {path: a.txt}, times: 20}
  - {say: I cannot read it., when: ended}
"""

REFERENCE = "reference?client=plain"
"""The reference agent without an SDK. Each command plays in a process of its own, and half of the
processor time of such a process is the import of an SDK: 5.2 s and 2.0 s, measured."""

OSLO = "tests.shrink.agents:crashes_on_oslo"
UNGUARDED = "tests.shrink.agents:has_no_guards?client=plain"


class Done(NamedTuple):
    """How a command ended."""

    status: object
    out: str
    err: str


Command = Callable[..., Done]


def shrink_words(*words: str, target: str = OSLO) -> tuple[str, ...]:
    """The words that shrink the talk."""
    return ("shrink", "scenarios/chat.yaml", "--target", target, *words)


def loaded(file: Path) -> Scenario:
    """The only run of a file."""
    (scenario,) = load_scenarios(file)
    return scenario
