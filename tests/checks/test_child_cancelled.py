"""A cancel that only the parent asks for, and whether its child learns of it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness import Brief, InboxItem, ToolScript, ToolTurn, Turn, run
from harness.checks.children import child_cancelled
from harness.core.scenario.scenario import RequestText
from tests.checks.histories import codes
from tests.checks.test_children import SAID, Parent, scenario


class Waiting(Parent):
    """A parent that asks for cancels before each of its requests; its children do as `asks`."""

    def __init__(self, brief: Brief, asks: bool) -> None:
        super().__init__(brief, lambda text, failed: text)
        self.asks = asks

    def loop(self, client: Any, history: list[Any], steps: int) -> tuple[str, bool]:
        if client is self.client:
            said = super().loop(client, history, steps)
            return ("Stopped.", True) if self.brief.cancelled() else said
        return super().loop(client, history, steps)

    def ran(self, call: Any) -> str:
        said = super().ran(call)
        if self.asks and self.brief.cancelled():
            raise InterruptedError
        return said

    def child(self, call: Any) -> str:
        try:
            return super().child(call)
        except InterruptedError:
            return "Cancelled."


@pytest.mark.parametrize(
    ("asks", "hang_s", "wanted"),
    [
        (False, 4, ["child_cancelled.goes_on"]),
        (True, 4, []),
        (False, 0, []),
    ],
    ids=["not in the child", "in the child too", "the child had ended"],
)
def test_a_cancel_that_only_the_parent_asks_for_does_not_reach_its_child(
    asks: bool, hang_s: float, wanted: list[str]
) -> None:
    look = ToolScript(script=(ToolTurn(ok="Nothing.", hang=hang_s, times="forever"),))
    words = RequestText(has="Count the frogs", lacks="Compare")
    played = msgspec.structs.replace(
        scenario(Turn(use="look", when=words), Turn(say=SAID, when=words)),
        tools={"look": look},
        inbox=(
            InboxItem(text="Compare the ponds."),
            InboxItem(id="c1", kind="cancel", when={"ms": 1_000}),
        ),
    )
    history = run(played, lambda brief: Waiting(brief, asks).serve()).history
    assert codes(child_cancelled(history)) == wanted
