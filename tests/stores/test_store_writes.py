"""Each write is reported before, inside and after; reading is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.core.values.calls import Inbound
from harness.core.values.messages import assistant, user
from harness.stores.opening import open_store
from harness.stores.store_writes import WRITES, WatchedStore

INBOUND = Inbound("m1", text="hi")
CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("seed", ("main", [user("before")])),
    ("accept", (INBOUND, user("hi"))),
    ("append", ("main", assistant("hm"))),
    ("begin", (INBOUND,)),
    ("reply", (INBOUND, assistant("hello"), "ok", "final")),
    ("delivered", (INBOUND,)),
    ("summarise", ("main", user("summary"), "1")),
]


@pytest.mark.parametrize("kind", ["sqlite", "jsonl"])
def test_every_write_has_its_moments_and_returns_what_the_store_returns(
    tmp_path: Path, kind: str
) -> None:
    told: list[str] = []
    store = WatchedStore(
        open_store({"store": kind}, tmp_path),
        lambda write, moment: told.append(f"{write} {moment}"),
        lambda write, arguments, result: told.append(f"{write} {result}"),
    )
    for write, arguments in CALLS:
        told.clear()
        result = getattr(store, write)(*arguments)
        moments = [f"{write} {moment}" for moment in ("before", "inside", "after")]
        assert told == [*moments, f"{write} {result}"]
    told.clear()
    assert len(store.rows("main")) == 4
    assert (list(store.pending()), store.name, told) == ([], kind, [])
    assert {write for write, _ in CALLS} == WRITES


class _Stopped(BaseException):
    """The process ends here."""


def test_what_ends_inside_a_transaction_was_never_written(tmp_path: Path) -> None:
    def tell(write: str, moment: str) -> None:
        if moment == "inside":
            raise _Stopped

    plain = open_store({}, tmp_path)
    with pytest.raises(_Stopped):
        WatchedStore(plain, tell, lambda *_: None).accept(INBOUND, user("hi"))
    assert open_store({}, tmp_path).read() == []
