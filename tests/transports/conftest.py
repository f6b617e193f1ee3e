"""The tests of a server can ask that none of its threads dies."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def no_traceback(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No thread of a server may die of an exception."""
    seen: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", seen.append)
    yield
    assert seen == []
