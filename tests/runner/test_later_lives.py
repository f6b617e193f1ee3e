"""A life after a kill: later than the one before, with other random numbers, as the seed says."""

from __future__ import annotations

import os
import random
import sqlite3
import time
import uuid
from collections.abc import Callable
from itertools import count
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.clock import VirtualClock
from harness.core.history.events import Called, Killed, Started
from harness.core.history.history import canonical, encode
from harness.core.scenario.inbox import PAUSE_MS
from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, Turn
from harness.core.values.calls import OutboxRequest
from harness.runner import run
from harness.runner.python_attempt import DOWNTIME_MS, downtime_ms, life_seed

KILLED = Scenario(
    name="killed",
    inbox=(InboxItem(text="hello"), InboxItem(text="again"), InboxItem(text="bye")),
    script=(Turn(say="Hello to you."), Turn(say="And again."), Turn(say="Farewell.")),
    faults=(FaultSpec(kind="gateway.killed", when=(2, 4)),),
)
NAMES: dict[str, Callable[[], str]] = {
    "time": lambda: f"{time.time_ns():020}",
    "monotonic": lambda: f"{time.monotonic_ns():020}",
    "uuid": lambda: uuid.uuid4().hex,
    "random": lambda: f"{random.getrandbits(64):016x}",
    "drawn at once": lambda: f"{int(time.time() * 1000):014}{next(_NUMBERS):03}",
}
_NUMBERS = count()
BY_ARRIVAL = ("uuid", "random")


def stores_rows(brief: Any, kind: str) -> None:
    """Keeps its session in SQLite, mostly in the order of the names of its rows."""
    name, order = NAMES[kind], "rowid" if kind in BY_ARRIVAL else "name"
    rows = sqlite3.connect(brief.session_dir / "rows.db", isolation_level=None)
    rows.execute("create table if not exists rows (name text primary key, id text, role, text)")

    def keep(of: str, role: str, text: str) -> None:
        rows.execute("insert into rows values (?, ?, ?, ?)", (name(), of, role, text))

    client = brief.anthropic()
    for inbound in brief.inbox():
        kept = rows.execute("select role from rows where id = ?", (inbound.id,)).fetchall()
        if ("assistant",) not in kept:
            if not kept:
                keep(inbound.id, "user", inbound.text)
            said = rows.execute(f"select role, text from rows order by {order}").fetchall()
            messages = [{"role": r, "content": t} for r, t in said]
            answer = client.messages.create(model="m", max_tokens=99, messages=messages)
            keep(inbound.id, "assistant", answer.content[0].text)
        row = "select text from rows where id = ? and role = 'assistant'"
        brief.send(rows.execute(row, (inbound.id,)).fetchone()[0])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [0, 1])
def test_rows_under_names_of_time_or_chance_survive_a_kill(name: str, seed: int) -> None:
    done = run(KILLED, lambda brief: stores_rows(brief, name), seed=seed)
    assert (done.verdict.verdict, done.verdict.findings) == ("pass", ())
    assert sum(isinstance(event, Killed) for event in done.history.events) == 2


def _tells_its_life(brief: Any) -> None:
    with (brief.session_dir / "lives").open("a") as file:
        drawn, pid = random.random(), os.getpid()
        print(time.time_ns(), time.monotonic_ns(), drawn, pid, file=file)
    lives = (brief.session_dir / "lives").read_text()
    client = brief.anthropic()
    for _ in brief.inbox():
        said = [{"role": "user", "content": lives}]
        client.messages.create(model="m", max_tokens=99, messages=said)
        brief.send(lives)


def test_each_life_is_later_and_draws_otherwise() -> None:
    done = run(KILLED, _tells_its_life)
    said = [
        e.request.text
        for e in done.history.events
        if isinstance(e, Called) and isinstance(e.request, OutboxRequest)
    ]
    lives = [line.split() for line in said[-1].splitlines()]
    assert len(lives) == 3
    for n in range(2):
        earlier, later = lives[n], lives[n + 1]
        down_ns = downtime_ms(KILLED, n + 1) * 1_000_000
        assert down_ns > 0
        for clock in (0, 1):
            assert int(later[clock]) - int(earlier[clock]) >= down_ns
    assert len({life[2] for life in lives}) == len({life[3] for life in lives}) == 3


def test_the_run_is_the_same_for_a_seed_and_its_clock_counts_no_downtime() -> None:
    def kept(seed: int) -> tuple[list[int], bytes]:
        done = run(KILLED, lambda brief: stores_rows(brief, "time"), seed=seed)
        starts = [e for e in done.history.events if isinstance(e, Started)]
        assert done.history.events[-1].at_ms < 3 * PAUSE_MS[1]
        return [start.downtime_ms for start in starts], encode(
            msgspec.structs.replace(e, versions={}) if isinstance(e, Started) else e
            for e in done.history.events
        )

    first, other = kept(0), kept(5)
    assert first == kept(0)
    assert first[0][0] == other[0][0] == 0
    assert first[0] != other[0]


def test_a_downtime_is_of_virtual_time_alone() -> None:
    simulated, real = (run(KILLED, _greets, world=w) for w in ("simulate", "supervise"))
    assert canonical(simulated.history) == canonical(real.history)
    assert simulated.history.past.downtime_ms > 0 == real.history.past.downtime_ms


def _greets(brief: Any) -> None:
    stores_rows(brief, "time")


@given(seed=st.integers(0, 10**9), number=st.integers(1, 9), text=st.text(max_size=9))
def test_a_downtime_depends_on_the_seed_and_not_on_the_name(
    seed: int, number: int, text: str
) -> None:
    scenario = Scenario(name="a", seed=seed, inbox=(InboxItem(text=text),))
    drawn = downtime_ms(scenario, number)
    assert DOWNTIME_MS[0] <= drawn <= DOWNTIME_MS[1]
    assert drawn == downtime_ms(msgspec.structs.replace(scenario, name="b"), number)
    assert (downtime_ms(scenario, 0), life_seed(scenario, 0)) == (0, seed)
    assert life_seed(scenario, number) != life_seed(scenario, number + 1)


def test_a_wall_clock_that_was_set_stays_so_after_a_kill() -> None:
    jump = FaultSpec(kind="clock.jumps_forward", on="model", when=1, settings={"jump_s": 1e6})
    scenario = msgspec.structs.replace(KILLED, faults=(jump, *KILLED.faults))
    done = run(scenario, lambda brief: stores_rows(brief, "time"))
    assert (done.verdict.verdict, done.verdict.findings) == ("pass", ())


@given(st.integers(0, 10**9), st.floats(0, 1e6))
def test_a_moment_is_found_again_after_a_downtime(downtime: int, seconds: float) -> None:
    clock = VirtualClock()
    clock.pass_downtime(downtime)
    clock.advance(seconds)
    assert clock.now_ms() == round(seconds * 1e6) // 1000
    assert clock.moment_us(clock.monotonic()) == clock.now_us()
    assert clock.moment_us(float("inf")) is None


def test_no_reading_of_nanoseconds_comes_again() -> None:
    clock = VirtualClock()
    read = []
    for _ in range(20):
        read += [clock.time_ns() for _ in range(40)]
        clock.advance(1e-6)
    assert sorted(set(read)) == read
    clock.advance(0.001)
    assert read[-1] < clock.time_ns() == 1_767_225_600_001_020_000
