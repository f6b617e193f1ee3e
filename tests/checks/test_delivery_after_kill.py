"""A reply may go out a second time after a kill, but not without a word."""

from __future__ import annotations

import pytest

from harness.checks.delivery import outbound_once
from harness.core.calls import InboxRequest, OutboxRequest
from harness.core.history import History


def _history(first: str, *later: str, killed: bool) -> History:
    history = History()
    history.started(run="r", scenario="s", world="simulate", seams=("model", "inbox", "outbox"))
    history.called(key="main/inbox#1", seam="inbox", request=InboxRequest())
    delivered = {"id": "m1", "session": "main", "text": "hi"}
    history.answered(key="main/inbox#1", session="main", turn=1, seam="inbox", value=delivered)
    for number, text in enumerate((first, *later), start=1):
        if killed and number > 1:
            history.killed(at=f"store#{number}:before")
        at = {"key": f"main/outbox#{number}", "session": "main", "turn": 1, "seam": "outbox"}
        history.called(request=OutboxRequest("final", text, "m1", "ok"), **at)
        history.answered(**at)
    history.ended(how="returned")
    return history


@pytest.mark.parametrize(
    ("texts", "killed", "found"),
    [
        (("Hello.", "You may have this: Hello."), True, []),
        (("Hello.", "Again: Hello.", "Again: Hello."), True, []),
        (("Hello.", "Hello."), True, ["outbound_once.twice"]),
        (("Hello.", "Hel lo."), True, ["outbound_once.twice"]),
        (("Hello.", "Good bye."), True, ["outbound_once.twice"]),
        (("Hello.", "Again: Hello.", "Hello."), True, ["outbound_once.twice"]),
        (("Hello.", "You may have this: Hello."), False, ["outbound_once.twice"]),
    ],
)
def test_a_repetition_has_to_say_that_it_may_be_one(
    texts: tuple[str, ...], killed: bool, found: list[str]
) -> None:
    assert [f.code for f in outbound_once(_history(*texts, killed=killed))] == found
