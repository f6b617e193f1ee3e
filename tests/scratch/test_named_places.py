"""Which places outside of a project its settings name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scratch.named_places import is_settings, of_text, of_variables

APP = "/home/me/app"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("DATABASE_URL=postgresql://me:secret@db.example:5432/app?x=1", "postgresql://db.example:5432/app"),
        ('url = "mysql+pymysql://root@localhost/shop"', "mysql://localhost/shop"),
        ("  uri: mongodb+srv://u:p@cluster.example/", "mongodb://cluster.example"),
        ("REDIS_URL=redis://:pw@cache:6379/0", "redis://cache:6379/0"),
        ("DATABASE_URL=sqlite:////var/lib/app.db", "/var/lib/app.db"),
        ("DATABASE_URL=sqlite+aiosqlite:////home/me/other/app.db?x=y", "/home/me/other/app.db"),
        ('DB="sqlite:////home/me/my data/app.db"', "/home/me/my data/app.db"),
        ("DB_FILE: /home/me/my data/app.db", "/home/me/my data/app.db"),
        ("DB_FILE=/home/me/app-two/x.sqlite3", "/home/me/app-two/x.sqlite3"),
        ('engine = create_engine("postgresql://localhost/app")', "postgresql://localhost/app"),
    ],
)  # fmt: skip
def test_a_place_outside_is_told_without_its_password(line: str, shown: str) -> None:
    (place,) = set(of_text(".env", f"# a comment\n{line}\n", APP))
    assert (place.where, place.shown) == (".env:2", shown)
    assert "secret" not in f"{place}"


@pytest.mark.parametrize(
    "line",
    [
        "DATABASE_URL=sqlite:///app.db",
        "DATABASE_URL=sqlite:///./data/app.db",
        f"DATABASE_URL=sqlite:///{APP}/app.db",
        f"DB={APP}/data/x.db",
        "DB=sqlite://",
        "DB=data/x.db",
        "# DATABASE_URL=postgresql://db/app",
        "BASE=https://api.example/v1",
        "url: postgresql:///",
        "x" * 3000 + " postgresql://db/app",
    ],
)
def test_what_the_copy_covers_is_not_told(line: str) -> None:
    assert [*of_text(".env", line, APP)] == []


def test_the_environment_is_read_by_name() -> None:
    named = {"DATABASE_URL": "postgres://u:p@db/x", "PATH": "/usr/bin:/bin", "HOME": "/home/me"}
    (place,) = of_variables(named, APP)
    assert place == ("the environment", "DATABASE_URL", "postgres://db/x", "")


@pytest.mark.parametrize(
    ("name", "settings"),
    [(".env", True), ("conf/.env.local", True), ("app/settings.py", True), ("alembic.ini", True),
     ("README.md", False), ("package-lock.json", False), ("uv.lock", False), ("a.csv", False)],
)  # fmt: skip
def test_settings_and_sources_are_read(name: str, settings: bool) -> None:
    assert is_settings(name) == settings


@given(st.text())
def test_no_text_raises(text: str) -> None:
    for line in (text, f"DATABASE_URL=postgresql://{text}", f"a=sqlite:////{text}"):
        assert len([*of_text(".env", line, APP)]) <= 3 * len(line)
