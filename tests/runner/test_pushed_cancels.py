"""A cancel that reaches a program in the middle of its turn: by a URL, or by SIGINT."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.core.scenario.scenario import InboxItem, Limits, Scenario, ToolScript, ToolTurn, Turn
from harness.core.values.profile import Profile
from harness.runner import Run, run
from harness.targets import TargetSpec, resolve
from tests.runner import programs

pytestmark = pytest.mark.real

SCENARIO = Scenario(
    name="cancelled",
    tools={"wait": ToolScript(script=(ToolTurn(ok="done", hang=6, times="forever"),))},
    inbox=(
        InboxItem(id="m1", text="Wait for it."),
        InboxItem(id="c1", kind="cancel", when={"after": "main/tool#1"}),
        InboxItem(id="m2", text="Are you there?"),
    ),
    script=(Turn(use="wait", optional=True), Turn(say="Here I am.", times="forever")),
    limits=Limits(real_s=20),
)

TURNS = """
def work(message):
    reply = ask_whole(message["text"])
    if reply["stop_reason"] == "tool_use":
        name = reply["content"][-1]["name"]
        post(os.environ["HARNESS_TOOLS_URL"] + "/" + name, {"input": reply["content"][-1]["input"]})
        reply = ask_whole("go on")
    say(message, reply["content"][-1]["text"])

def ask_whole(text):
    body = {"model": "m", "max_tokens": 64, "messages": [{"role": "user", "content": text}],
            "tools": [{"name": "wait", "input_schema": {"type": "object"}}]}
    headers = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
    return json.loads(post(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body, **headers))
"""

BY_SIGNAL = (
    TURNS
    + """
for message in inbox():
    try:
        work(message)
    except KeyboardInterrupt:
        pass
"""
)

BY_WAITING = (
    TURNS
    + """
def cancelled():
    with urllib.request.urlopen(os.environ["HARNESS_CANCELLED_URL"] + "?wait=true") as answer:
        return json.load(answer)["cancelled"]

import threading
for message in inbox():
    worker = threading.Thread(target=work, args=(message,), daemon=True)
    if message["id"] == "m2":
        work(message)
        continue
    worker.start()
    while not cancelled():
        pass
    # The thread is left in its tool; its process would end it.
os._exit(0)
"""
)

DEAF = (
    TURNS
    + """
import signal
signal.signal(signal.SIGINT, lambda *_: None)
for message in inbox():
    work(message)
"""
)


def codes(result: Run) -> set[str]:
    return {finding.code for finding in result.verdict.findings}


def with_option(target: TargetSpec) -> TargetSpec:
    return resolve(f"{target.text}?cancel=sigint")


def test_sigint_reaches_a_program_in_its_tool_and_the_next_message_is_answered(
    tmp_path: Path,
) -> None:
    result = run(SCENARIO, with_option(programs.program(tmp_path, BY_SIGNAL)))
    assert codes(result) == set()
    assert result.history.trace.turns
    assert any(turn.cancelled_n for turn in result.history.trace.turns.values())


def test_the_profile_may_say_that_it_is_sigint(tmp_path: Path) -> None:
    known = msgspec.structs.replace(SCENARIO, profile=Profile(cancel="sigint"))
    result = run(known, programs.program(tmp_path, BY_SIGNAL))
    assert codes(result) == set()
    assert any(turn.cancelled_n for turn in result.history.trace.turns.values())


def test_who_goes_on_after_sigint_is_found(tmp_path: Path) -> None:
    result = run(SCENARIO, with_option(programs.program(tmp_path, DEAF)))
    assert "cancel_honoured.request" in codes(result)


def test_a_url_that_is_waited_on_tells_of_the_cancel_while_the_tool_still_runs(
    tmp_path: Path,
) -> None:
    result = run(SCENARIO, programs.program(tmp_path, BY_WAITING))
    (first, *_) = result.history.trace.turns.values()
    assert first.cancelled_n
    assert "cancel_honoured.request" not in codes(result)


def test_without_a_word_no_signal_comes(tmp_path: Path) -> None:
    result = run(SCENARIO, programs.program(tmp_path, BY_SIGNAL))
    assert not any(turn.cancelled_n for turn in result.history.trace.turns.values())
