"""What begins after a stop: a call that the agent makes without a look is found."""

from __future__ import annotations

import pytest

from harness.checks.cancels import cancel_honoured
from tests.checks.histories import Story, use


def _tries_again(wait_ms: int, *, came_ms: int = 0) -> Story:
    story = Story().turn("go").fail(529).wait(wait_ms).reply(use("list"))
    return story.take(kind="cancel", came_ms=came_ms).refuse("Not run.").final("Stopped.")


def test_a_retry_that_does_not_look_for_a_stop_is_found() -> None:
    (finding,) = cancel_honoured(_tries_again(31_000, came_ms=1000).end())
    assert finding.code == "cancel_honoured.unseen"
    assert finding.message.startswith("turn 1 of main: main/model#2 asks the model 30 s after")


@pytest.mark.parametrize(("wait_ms", "came_ms"), [(0, 1), (9_000, 1), (30_000, 25_000)])
def test_an_agent_may_look_every_few_seconds(wait_ms: int, came_ms: int) -> None:
    assert not list(cancel_honoured(_tries_again(wait_ms, came_ms=came_ms).end()))
