"""Opening a store whose file may be damaged: a changed plan changes the file before it is read.

The plan of an opening sends one record a row, in the form of `session_facts`. Lines are written as
they are; rows may be torn, doubled, or from an older version of the tables.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.core.values.calls import StoreRequest
from harness.core.values.errors import InputError
from harness.core.values.plans import Raise
from harness.stores.faulty_jsonl import JsonlMedium
from harness.stores.faulty_sqlite import SqliteMedium
from harness.stores.faulty_store import Ask, CarryOut, FaultyStore, Medium, write_steps
from harness.stores.jsonl import JsonlStore
from harness.stores.session_store import SessionStore
from harness.stores.sqlite import SqliteStore


def open_faulty(
    store: SessionStore, reopened: Callable[[], SessionStore], ask: Ask, carry_out: CarryOut
) -> tuple[SessionStore, FaultyStore]:
    """The real store behind the seam, and the store as the agent gets it.

    `store` is the real one; `reopened` opens it again after its file was damaged. Raises what the
    store's library raises when it cannot be opened, and InputError for a store without a shim.
    """
    medium = _medium_of(store, carry_out)
    records = medium.records()
    plan = ask(StoreRequest("open", access="open", store=store.name), records, (), "")
    damaged = list(write_steps(plan).sent)
    if failed := next((step.error for step in plan if isinstance(step, Raise)), ""):
        store.close()
        raise medium.error(failed)
    if damaged != records:
        store.close()
        medium.lay(damaged)
        store = reopened()
        medium = _medium_of(store, carry_out)
    for step in plan:  # a wait, a jump, a kill; carrying out sends and answers does nothing
        carry_out(step)
    return store, FaultyStore(store, medium, ask)


def _medium_of(store: SessionStore, carry_out: CarryOut) -> Medium:
    match store:
        case JsonlStore():
            return JsonlMedium(store, carry_out)
        case SqliteStore():
            return SqliteMedium(store, carry_out)
    what = f"a fault on the store needs one of {JsonlStore.name}, {SqliteStore.name}"
    raise InputError(f"{what}, not {store.name}", "store")
