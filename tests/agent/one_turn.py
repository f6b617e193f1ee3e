"""A stand with one message: what it takes to look at one turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.agent.stand import Stand


def stand(folder: Path, stream: bool, *replies: Any, inbox: str = "hi") -> Stand:
    """A stand with one message."""
    made = Stand(folder, replies, inbox)
    made.options["stream"] = stream
    return made
