"""How many files a reader passes who follows a request, a judgement, or an example of a campaign.

They are counted by tracing: a file counts once a function of it is called. The counts are printed
(`pytest -s`), so that they can be compared; the bounds keep the way short.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import getmodule
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import harness
from harness import Brief, InboxItem, Scenario, Turn, judge, run
from harness.checks.judge import checks
from harness.core.history.history import decode, encode
from harness.fuzz.example import draw, options_of, play
from harness.targets import TargetSpec, of_callable

ROOT = str(Path(harness.__file__).parent)
REQUEST_MOST, JUDGEMENT_MOST, SHARED_MOST = 20, 45, 22
"""The most files of a request beside the clock, of a judgement, and of that without the families of
checks: each family is a file that stands for itself."""

EXAMPLES, EXAMPLE_MOST = 20, 139
"""The number of examples, and the most files of the median one: it is drawn, played against an
agent of some lines, and judged: each family of checks is a file, and has its own."""

FAMILIES = {f"checks/{m.__name__.rpartition('.')[2]}.py" for m in map(getmodule, checks().values())}

SCENARIO = Scenario(
    name="greeting", inbox=(InboxItem(text="Good morning."),), script=(Turn(say="Hello."),) * 2
)


@contextmanager
def passed() -> Iterator[set[str]]:
    """The files of the package of which a function is called in this block."""
    files: set[str] = set()

    def see(frame: Any, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(ROOT):
            files.add(frame.f_code.co_filename.removeprefix(f"{ROOT}/"))

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        yield files
    finally:
        sys.setprofile(before)


def agent_that_counts(files: set[str]) -> Callable[[Brief], None]:
    """An agent whose second request is traced; the first one warms the SDK."""

    def agent(brief: Brief) -> None:
        client = brief.anthropic()
        for message in brief.inbox():
            said: list[Any] = [{"role": "user", "content": message.text}]
            first = client.messages.create(model="claude-sonnet-5", max_tokens=99, messages=said)
            said += [{"role": "assistant", "content": first.content}, said[0]]
            with passed() as request:
                client.messages.create(model="claude-sonnet-5", max_tokens=99, messages=said)
            files.update(request)
            brief.send(first.content[0].text)

    return agent


def test_a_request_and_its_judgement_pass_few_files() -> None:
    request: set[str] = set()
    done = run(SCENARIO, agent_that_counts(request))
    assert done.verdict.verdict == "pass", done.verdict
    history = decode(encode(done.history.events))
    with passed() as judgement:
        judge(history)
    for name, files in (("one request", request), ("one judgement", judgement)):
        print(f"{name} passes {len(files)} files: {', '.join(sorted(files))}")
    assert "core/transition/transition.py" in request
    assert "checks/judge/__init__.py" in judgement
    # Threads that earlier tests of this process left make the clock look at more.
    request = {name for name in request if not name.startswith(("clock/", "processes/"))}
    assert len(request) <= REQUEST_MOST, sorted(request)
    assert FAMILIES & judgement
    assert len(judgement) <= JUDGEMENT_MOST, sorted(judgement)
    assert len(judgement - FAMILIES) <= SHARED_MOST, sorted(judgement - FAMILIES)


def test_an_example_of_a_campaign_passes_few_files() -> None:
    target = of_callable(agent_that_answers)
    example_of(0, target)  # it warms the SDK and the loader of parts
    found = [example_of(seed, target) for seed in range(EXAMPLES)]
    counts = [len(files) for files in found]
    print(f"an example passes {median(counts)} files, at most {max(counts)}")
    asked = ("fuzz/example.py", "core/transition/transition.py", "checks/judge/__init__.py")
    assert all(files.issuperset(asked) for files in found)
    assert median(counts) <= EXAMPLE_MOST, sorted(max(found, key=len))


def example_of(seed: int, target: TargetSpec) -> set[str]:
    """The files that an example passes, from its first choice to what the campaign keeps."""
    options = options_of(target)
    with passed() as files:
        scenario, choices = draw((), Random(seed), options)
        play(scenario, choices, target, 1)
    return files


def agent_that_answers(brief: Brief) -> None:
    """An agent that calls no tool and keeps nothing; it is outside of the package."""
    client = brief.anthropic()
    for message in brief.inbox():
        said: list[Any] = [{"role": "user", "content": message.text}]
        answer = client.messages.create(model="claude-sonnet-5", max_tokens=99, messages=said)
        brief.send("".join(getattr(block, "text", "") for block in answer.content))
