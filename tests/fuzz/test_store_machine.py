"""Right stores pass the store machine; each wrong one breaks the promise that it should."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from harness.core.values.calls import Inbound
from harness.core.values.messages import Message
from harness.fuzz.machines.session_invariants import InvariantViolation
from harness.stores.jsonl import JsonlStore
from harness.stores.session_store import SessionRow
from harness.stores.sqlite import SqliteStore
from harness.strategies import store_machine
from tests.stores.wrong_parts import AcknowledgesFirst, CommitsLate


class Bare:
    """A store of a user's: two methods, one file of lines."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "session.jsonl"

    def append(self, session: str, message: Message) -> None:
        """Add a line."""
        with self.path.open("ab") as file:
            file.write(msgspec.json.encode((session, message)) + b"\n")

    def rows(self, session: str) -> list[SessionRow]:
        """The lines of a session."""
        lines = self.path.read_bytes().split(b"\n")[:-1] if self.path.exists() else []
        read = [msgspec.json.decode(line, type=tuple[str, Message]) for line in lines]
        return [SessionRow("", message) for of, message in read if of == session]


class MixesSessions(Bare):
    """Which session a row belongs to is forgotten."""

    def rows(self, session: str) -> list[SessionRow]:
        """The lines of all sessions."""
        return super().rows("main") + super().rows("side")


class SplitsLines(Bare):
    """Lines are split wherever Unicode ends one."""

    def append(self, session: str, message: Message) -> None:
        """Add a line."""
        line = msgspec.json.encode((session, message)).decode()
        whole = (part for part in line.splitlines() if part.endswith("]"))
        with self.path.open("a") as file:
            file.writelines(f"{part}\n" for part in whole if part.startswith("["))


class DropsBlank(Bare):
    """What has no text is not worth a row."""

    def append(self, session: str, message: Message) -> None:
        """Add a line, perhaps."""
        if message.blocks:
            super().append(session, message)


class AcceptsAgain(SqliteStore):
    """A message that comes again is a new one, if it came long ago."""

    def accept(self, inbound: Inbound, message: Message) -> bool:
        """Always."""
        super().accept(inbound, message)
        return True


class CoversTooMuch(SqliteStore):
    """A summary covers one row more than it was told to."""

    def summarise(self, session: str, summary: Message, first: str) -> None:
        """Off by one."""
        super().summarise(session, summary, str(int(first) + 1))


def _sqlite(kind: type[SqliteStore]) -> Callable[[Path], Any]:
    return lambda folder: kind(folder / "session.db", synchronous="OFF")


def _play(open_store: Callable[[Path], Any], examples: int) -> None:
    play = settings(
        max_examples=examples,
        stateful_step_count=12,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(seed(1)(store_machine(open_store)), settings=play)


RIGHT: dict[str, Callable[[Path], Any]] = {
    "bare": Bare,
    "jsonl": lambda folder: JsonlStore(folder / "session.jsonl"),
    "sqlite": _sqlite(SqliteStore),
}

WRONG: dict[str, tuple[Callable[[Path], Any], str]] = {
    "mixes-sessions": (MixesSessions, "stored_once"),
    "splits-lines": (SplitsLines, "stored_once"),
    "drops-blank": (DropsBlank, "stored_once"),
    "accepts-again": (_sqlite(AcceptsAgain), "stored_once"),
    "acknowledges-first": (_sqlite(AcknowledgesFirst), "at_commit"),
    "commits-late": (_sqlite(CommitsLate), "stored_once"),
    "covers-too-much": (_sqlite(CoversTooMuch), "reload"),
}
"""A wrong store, and the promise that it breaks."""

SLOW = ("splits-lines", "covers-too-much", "accepts-again")
"""Those that the slow tier plays."""

STEPS_MOST = 5
"""The steps of the smallest example, of any store; most have one or two."""


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_store_passes(name: str) -> None:
    _play(RIGHT[name], examples=25)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.real] if name in SLOW else []) for name in WRONG]
)
def test_a_wrong_store_breaks_its_promise(name: str) -> None:
    open_store, code = WRONG[name]
    with pytest.raises(InvariantViolation) as caught:
        _play(open_store, examples=200)
    assert caught.value.code == code
    assert _steps(caught.value) <= STEPS_MOST


def _steps(error: BaseException) -> int:
    """How many rules the smallest example has."""
    lines = "\n".join(getattr(error, "__notes__", ())).splitlines()
    left_out = ("state.keeps_", "state.teardown")
    return sum(line.startswith("state.") and not line.startswith(left_out) for line in lines)
