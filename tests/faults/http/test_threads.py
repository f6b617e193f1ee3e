"""What the SDK's own tool runner makes of errors about threads: no tool runs twice."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import anthropic
import pytest

from harness.core.history.events import Called
from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, ToolScript, Turn
from harness.core.values.calls import OutboxRequest
from harness.runner import run

pytestmark = pytest.mark.skipif(
    find_spec("anthropic.lib.threads") is None, reason="an older SDK keeps no threads"
)


def runner_agent(brief: Any) -> None:
    """The SDK's loop with one tool; threads are its default."""
    [tool] = brief.tools

    def look() -> str:
        """Look."""
        return str(tool.call({}, id="look"))

    for message in brief.inbox():
        asked = [{"role": "user", "content": message.text}]
        client = brief.anthropic(max_retries=0)
        runner = client.beta.messages.tool_runner(
            model="m", max_tokens=99, messages=asked, tools=[anthropic.beta_tool(look)]
        )
        try:
            brief.send(runner.until_done().content[0].text)
        except anthropic.APIError as error:
            brief.send(f"failed: {type(error).__name__}", kind="error")


@pytest.mark.parametrize(
    ("name", "when", "calls", "said"),
    [
        ("thread_not_found", 2, 3, "done"),
        ("thread_already_continued", 2, 3, "done"),
        ("thread_continue_in_flight", 2, 3, "done"),
        ("thread_unsupported_request", 1, 3, "done"),
        ("thread_fingerprint_mismatch", 2, 2, "failed: ThreadFingerprintMismatchError"),
    ],
)
def test_the_runner_replays_or_raises(name: str, when: int, calls: int, said: str) -> None:
    scenario = Scenario(
        name="threads",
        tools={"look": ToolScript()},
        inbox=(InboxItem(id="m1", text="go"),),
        script=(Turn(use="look", input={}), Turn(say="done", optional=True)),
        faults=(FaultSpec(kind=f"http.{name}", when=when),),
    )
    history = run(scenario, runner_agent).history
    assert [f for e in history.events for f in getattr(e, "faults", ())] == [f"http.{name}"]
    assert history.past.calls["model"] == calls
    assert history.past.tool_calls["look"] == 1
    sent = [
        e.request.text
        for e in history.events
        if isinstance(e, Called) and isinstance(e.request, OutboxRequest)
    ]
    assert sent == [said]
