"""The past of a scenario, for a framework that keeps its sessions itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from harness.core.values.messages import Message


def seed_of(brief: Any) -> list[Message]:
    """The messages that the run's session begins with."""
    seed = Path(brief.session_dir, "seed.jsonl")
    lines = seed.read_bytes().splitlines() if seed.exists() else []
    return [msgspec.json.decode(line, type=Message) for line in lines]
