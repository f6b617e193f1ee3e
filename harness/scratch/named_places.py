"""The places outside of a project that its settings name: databases and files that no copy covers.

It reads texts, as a person would: the variables of the environment, `.env`, and other files. A
SQLite path below the project is in the copy; a database of a server is the user's own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import urlsplit

_SERVERS = frozenset(
    {"amqp", "amqps", "bolt", "cassandra", "clickhouse", "cockroachdb", "mariadb", "mongodb"}
    | {"mssql", "mysql", "nats", "neo4j", "oracle", "postgres", "postgresql", "redis", "rediss"}
    | {"snowflake", "valkey"}
)
_URL = re.compile(r"\b([a-z][a-z0-9]{1,20})(?:\+[a-z0-9_+]{1,30})?:(//[^\s\"'<>`,;)]{1,500})")
_NAME = re.compile(r"\s*(?:export\s+)?[\"']?([A-Za-z_]\w{0,80})[\"']?\s{0,20}[=:]")
_SQLITE = re.compile(r"\b(?:sqlite|duckdb)(?:\+\w{1,30})?:///(/[^\"'<>`,;)#?\n]{1,500})")
_FILE = re.compile(
    r"[=:]\s{0,20}[\"']?(/(?!/)[^\"'<>`,;:)\n]{1,500}?\.(?:db3?|duckdb|sqlite3?))(?=[\s\"'<>`,;)]|$)"
)
_TEXTS = (".cfg", ".conf", ".env", ".ini", ".js", ".json", ".mjs", ".properties", ".py", ".toml")
_MORE_TEXTS = (".ts", ".yaml", ".yml")


class Place(NamedTuple):
    """A place that a setting names: where the setting stands, its name, and what it names.

    `path` is the file, "" for a server. `shown` has no user and no password.
    """

    where: str
    setting: str
    shown: str
    path: str = ""


def is_settings(name: str) -> bool:
    """Whether a file may name a database: settings and sources, no prose and no lock files."""
    file = PurePosixPath(name).name
    is_env = file == ".env" or file.startswith(".env.")
    return is_env or (file.endswith((*_TEXTS, *_MORE_TEXTS)) and "lock" not in file)


def of_variables(variables: Mapping[str, str], folder: str) -> Iterator[Place]:
    """Yield the places outside of `folder` that variables of the environment name."""
    for name, value in variables.items():
        for shown, path in _named(f"={value}", folder):
            yield Place("the environment", name, shown, path)


def of_text(name: str, text: str, folder: str) -> Iterator[Place]:
    """Yield the places outside of `folder` that a file of the project names."""
    if "://" not in text and not _FILE.search(text):
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if len(line) > 2000 or line.lstrip().startswith(("#", "//")):
            continue
        for shown, path in _named(line, folder):
            setting = _NAME.match(line)
            yield Place(f"{name}:{number}", setting[1] if setting else "", shown, path)


def _named(line: str, folder: str) -> Iterator[tuple[str, str]]:
    for kind, rest in _URL.findall(line):
        if kind in _SERVERS and not rest.startswith("///"):
            yield f"{kind}://{_without_user(rest)}", ""
    for path in (*_SQLITE.findall(line), *_FILE.findall(line)):
        if not os.path.normpath(path.strip()).startswith(os.path.join(folder, "")):
            yield path.strip(), path.strip()


def _without_user(rest: str) -> str:
    """The host and the path of a URL: a password is not told."""
    try:
        parts = urlsplit(rest)
    except ValueError:
        return "..."
    return f"{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")
