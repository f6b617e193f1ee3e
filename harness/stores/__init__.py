"""Session stores: where an agent keeps its messages durably, row by row. A public module.

`SqliteStore`, `JsonlStore` and `PostgresStore`, also by name with `open_store`, serve your own
agent. Any other store takes a reader: a plug-in's public function of `path`, or of `url` for a
server, that returns a `Store`:

    def notes(path: Path) -> Store:
        return NotesStore(path)

The harness reads a run's store with it (`--store my_parts.notes:log.txt`), or a first session
(`session: {file: log.txt, format: my_parts.notes}`). `read` gives all rows in order, or none
where nothing is yet; `stored_row(id, message)` makes each. It runs before each call of the agent,
so it should read only new rows from the file.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.core.history.events import StoredRow as StoredRow
    from harness.core.transition.ports import Store as Store
    from harness.stores.jsonl import JsonlStore as JsonlStore
    from harness.stores.opening import Reader as Reader
    from harness.stores.opening import open_reader as open_reader
    from harness.stores.opening import open_store as open_store
    from harness.stores.opening import parts_of as parts_of
    from harness.stores.opening import readers as readers
    from harness.stores.postgres import PostgresStore as PostgresStore
    from harness.stores.session_store import Pending as Pending
    from harness.stores.session_store import SessionRow as SessionRow
    from harness.stores.session_store import SessionStore as SessionStore
    from harness.stores.session_store import stored_row as stored_row
    from harness.stores.sqlite import SqliteStore as SqliteStore
else:
    from harness.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(__name__)
