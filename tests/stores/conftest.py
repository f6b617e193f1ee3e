"""A real PostgreSQL server for the tests of stores."""

from tests.stores.postgres_server import postgres_dsn

__all__ = ["postgres_dsn"]
