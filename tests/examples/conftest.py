"""The world in which the example agents are tested."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples.world import World


@pytest.fixture
def world(tmp_path: Path, node: str) -> Iterator[World]:
    """A fresh world with its server running; needs node."""
    assert node
    world = World(tmp_path)
    yield world
    world.close()
