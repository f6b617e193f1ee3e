"""What no candidate may be: no file, or odder than the scenario was."""

from __future__ import annotations

import msgspec
import pytest

from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    SeedMessage,
    Session,
    Turn,
)
from harness.shrink.allowed import blanks, is_allowed

USER = SeedMessage(role="user", content="Hello")
ASSISTANT = SeedMessage(role="assistant", content="Hi.")
GOOD = Scenario(
    name="good",
    session=Session(messages=(USER, ASSISTANT)),
    inbox=(InboxItem(text="And now?"), InboxItem(kind="cancel")),
    script=(Turn(say="Now."), Turn(use="look")),
)

BAD = {
    "an empty turn": {"script": (Turn(), *GOOD.script)},
    "a blank turn": {"script": (Turn(say=" "),)},
    "a message without a word": {"inbox": (InboxItem(),)},
    "an empty stored message": {
        "session": Session(messages=(USER, SeedMessage(role="assistant", content=())))
    },
    "a session that no longer alternates": {"session": Session(messages=(USER,))},
    "a fault that there is not": {"faults": (FaultSpec(kind="http.no_such"),)},
    "a fault on tools without a tool": {"faults": (FaultSpec(kind="tools.empty"),)},
}


@pytest.mark.parametrize("what", BAD)
def test_refused(what: str) -> None:
    candidate = msgspec.structs.replace(GOOD, **BAD[what])
    assert is_allowed(GOOD, GOOD)
    assert not is_allowed(candidate, GOOD)


def test_what_was_odd_before_may_stay_so() -> None:
    odd = msgspec.structs.replace(GOOD, script=(Turn(), Turn(say="x")))
    fewer = msgspec.structs.replace(odd, script=(Turn(),))
    assert (blanks(odd), blanks(fewer), blanks(GOOD)) == (1, 1, 0)
    assert is_allowed(fewer, odd)
    damaged = msgspec.structs.replace(GOOD, session=Session(messages=(ASSISTANT, USER, USER)))
    less = msgspec.structs.replace(GOOD, session=Session(messages=(USER, USER)))
    assert is_allowed(less, damaged)
