"""A real PostgreSQL server for the stores of killed runs."""

from tests.stores.postgres_server import postgres_dsn

__all__ = ["postgres_dsn"]
