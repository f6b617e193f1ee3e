"""What an opening sends is what is stored, and what it is made to send is what is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.core.values.calls import Inbound, StoreRequest
from harness.core.values.errors import InputError
from harness.core.values.messages import Message, assistant, user
from harness.core.values.plans import Answer, Kept, Plan, Raise, Send, Step, Wait
from harness.stores.faulty_files import open_faulty
from harness.stores.opening import open_store
from harness.stores.session_store import SessionStore

KINDS = pytest.mark.parametrize("kind", ["sqlite", "jsonl"])
Bend = Callable[[Sequence[bytes]], Plan]


class Opened:
    """A store that two messages were answered in, opened under a plan."""

    def __init__(self, folder: Path, kind: str, bend: Bend) -> None:
        self.requests: list[StoreRequest] = []
        self.carried: list[Step] = []
        self._bend = bend

        def reopened() -> SessionStore:
            return open_store({"store": kind}, folder)

        store = reopened()
        if not store.read():
            for name in ("m1", "m2"):
                inbound = Inbound(name, text=name)
                store.accept(inbound, user(name))
                store.reply(inbound, assistant(f"to {name}"), "ok", "final")
                store.delivered(inbound)
        self.real, self.given = open_faulty(store, reopened, self._ask, self.carried.append)

    def _ask(
        self,
        request: StoreRequest,
        records: Sequence[bytes],
        messages: Sequence[Message],
        session: str,
    ) -> Plan:
        self.requests.append(request)
        if request.access == "open":
            return self._bend(records)
        return (*map(Send, records), Answer(Kept()))


def _sent(records: Sequence[bytes]) -> Plan:
    return (*map(Send, records), Answer(Kept()))


def _texts(store: Any) -> list[str]:
    return [row.message.text for row in store.rows("main")]


@KINDS
def test_an_opening_without_a_fault_changes_no_byte(tmp_path: Path, kind: str) -> None:
    seen: list[bytes] = []

    def look(records: Sequence[bytes]) -> Plan:
        seen.extend(records)
        return _sent(records)

    opened = Opened(tmp_path, kind, look)
    assert _texts(opened.given) == ["m1", "to m1", "m2", "to m2"]
    assert opened.given.pending() == []
    assert opened.requests[0] == StoreRequest("open", access="open", store=kind)
    assert sum(b'"fact":"row"' in record for record in seen) == 4
    assert sum(b'"fact":"delivered"' in record for record in seen) == 2


@KINDS
def test_rows_are_laid_in_the_order_in_which_they_are_sent(tmp_path: Path, kind: str) -> None:
    opened = Opened(tmp_path, kind, lambda records: _sent(list(reversed(records))))
    assert _texts(opened.given) == ["to m2", "m2", "to m1", "m1"]


@KINDS
def test_a_delivery_that_is_not_sent_is_owed_again(tmp_path: Path, kind: str) -> None:
    def forget(records: Sequence[bytes]) -> Plan:
        return _sent([r for r in records if not (b'"delivered"' in r and b"m2" in r)])

    opened = Opened(tmp_path, kind, forget)
    assert [pending.inbound.id for pending in opened.given.pending()] == ["m2"]


@KINDS
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(cut=st.integers(min_value=1, max_value=60), junk=st.binary(max_size=30))
def test_no_damage_keeps_a_store_from_being_opened_and_written(
    tmp_path_factory: pytest.TempPathFactory, kind: str, cut: int, junk: bytes
) -> None:
    folder = tmp_path_factory.mktemp("damaged")

    def damage(records: Sequence[bytes]) -> Plan:
        return _sent([*records[:1], junk + b"\n", *records[1:-1], records[-1][:-cut]])

    opened = Opened(folder, kind, damage)
    opened.given.append("main", user("next"))
    assert _texts(opened.given)[0] == "m1"
    assert _texts(opened.given)[-1] == "next"
    opened.real.close()


@KINDS
def test_what_was_damaged_before_is_sent_as_it_is_at_the_next_opening(
    tmp_path: Path, kind: str
) -> None:
    damage: list[bytes] = []

    def torn(records: Sequence[bytes]) -> Plan:
        place = next(i for i, record in enumerate(records) if b'"text":"to m2"' in record)
        damage.append(records[place][:-10] + b"\n")
        return _sent([*records[:place], *damage, *records[place + 1 :]])

    Opened(tmp_path, kind, torn).real.close()
    seen: list[bytes] = []

    def look(records: Sequence[bytes]) -> Plan:
        seen.extend(records)
        return _sent(records)

    opened = Opened(tmp_path, kind, look)
    assert damage[0] in seen
    assert _texts(opened.given) == ["m1", "to m1", "m2"]
    opened.real.close()


@KINDS
def test_what_is_no_record_is_carried_out_and_an_error_is_raised(tmp_path: Path, kind: str) -> None:
    opened = Opened(tmp_path, kind, lambda records: (Wait(5), *_sent(records)))
    assert Wait(5) in opened.carried
    opened.real.close()
    error = sqlite3.OperationalError if kind == "sqlite" else OSError
    with pytest.raises(error, match=r"unable to open database file|Permission denied"):
        Opened(tmp_path, kind, lambda records: (Raise("EACCES"),))


def test_a_store_without_a_shim_is_refused() -> None:
    class Elsewhere:
        name = "postgres"

    store: SessionStore = Elsewhere()  # type: ignore[assignment]
    with pytest.raises(InputError, match="needs one of jsonl, sqlite, not postgres"):
        open_faulty(store, lambda: store, lambda *_: (), lambda step: None)


def test_a_call_that_is_no_session_stores_own_goes_through(tmp_path: Path) -> None:
    opened = Opened(tmp_path, "jsonl", _sent)
    assert opened.given.name == "jsonl"
    assert opened.given.notes == []
    opened.given.seed("main", iter([user("a"), user("b")]))
    assert _texts(opened.real)[-2:] == ["a", "b"]
    assert [request.operation for request in opened.requests] == ["open", "seed"]
