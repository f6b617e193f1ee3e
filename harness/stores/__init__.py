"""Session stores: where an agent keeps what was said, row by row, durably. A public module.

A store is append-only and its rows have an identity. It is written before anything is sent, so
that what was acknowledged survives a kill. It knows which inbound messages it has taken in, so that
none is taken in twice. Each store reads itself for the harness too (`Store`).

For an agent of your own: `SqliteStore`, `JsonlStore`, `PostgresStore`, or `open_store` by name; all
are a `SessionStore`. For the store that your agent has: a store reader, which is a public function
of a plug-in whose first parameter is `path`, or `url` for a server, and which returns a `Store`:

    def notes(path: Path) -> Store:
        return NotesStore(path)

The harness looks with it at the store of a run (`--store my_parts.notes:log.txt`), and at a session
to begin with (`session: {file: log.txt, format: my_parts.notes}`). `read` gives all rows in order,
each made by `stored_row(id, message)`; where nothing is yet it gives none. It is called before each
call of the agent, so it should read again only what is new.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.core.history.events import StoredRow as StoredRow
    from harness.core.transition.ports import Store as Store
    from harness.stores.jsonl import JsonlStore as JsonlStore
    from harness.stores.postgres import PostgresStore as PostgresStore
    from harness.stores.session_store import Pending as Pending
    from harness.stores.session_store import SessionRow as SessionRow
    from harness.stores.session_store import SessionStore as SessionStore
    from harness.stores.session_store import stored_row as stored_row
    from harness.stores.sqlite import SqliteStore as SqliteStore
    from harness.stores.store_options import open_store as open_store
    from harness.stores.store_readers import Reader as Reader
    from harness.stores.store_readers import open_reader as open_reader
    from harness.stores.store_readers import parts_of as parts_of
    from harness.stores.store_readers import readers as readers
else:
    from harness.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(__name__)
