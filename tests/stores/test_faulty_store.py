from __future__ import annotations

import pytest

from harness.core.values.plans import Answer, Kept, Kill, Plan, Raise, Send, Wait
from harness.stores.faulty_store import WriteSteps, unsynced_loss, write_steps

KEPT, A, B = Answer(Kept()), Send(b"a"), Send(b"b")


@pytest.mark.parametrize(
    ("plan", "steps"),
    [
        ((A, B, KEPT), WriteSteps(sent=(b"a", b"b"))),
        ((KEPT,), WriteSteps()),
        ((), WriteSteps(kept=None)),
        ((Wait(1), A, Kill(), KEPT), WriteSteps((Wait(1),), (b"a",), (Kill(),))),
        ((A, KEPT, Kill()), WriteSteps(sent=(b"a",), after=(Kill(),))),
        ((A, Raise("EFBIG")), WriteSteps(sent=(b"a",), inside=(Raise("EFBIG"),), kept=None)),
        (
            (Raise("EIO"), A, Answer(Kept("unsynced"))),
            WriteSteps((Raise("EIO"),), (b"a",), kept=Kept("unsynced")),
        ),
    ],
)
def test_steps_are_put_in_order(plan: Plan, steps: WriteSteps) -> None:
    assert write_steps(plan) == steps


@pytest.mark.parametrize(
    ("plan", "raised"),
    [
        ((A, KEPT), ""),
        ((Wait(1), Raise("busy"), A, KEPT), "busy"),
        ((A, Raise("ENOSPC")), "ENOSPC"),
        ((A, KEPT, Raise("EIO")), ""),
    ],
)
def test_what_a_store_fails_with_comes_before_it_counts(plan: Plan, raised: str) -> None:
    assert write_steps(plan).raised == raised


def test_only_the_end_of_the_machine_takes_what_is_not_synced() -> None:
    steps = (Kill(), Kill("lost"), Kill("reordered"), Wait(1))
    assert [unsynced_loss(step) for step in steps] == ["", "lost", "reordered", ""]
