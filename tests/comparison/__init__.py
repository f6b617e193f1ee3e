"""Histories of two agents on one scenario, and what a history says with other words."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from harness.agent import agent as reference
from harness.agent.naive_agent import agent as naive
from harness.core.history.history import History, decode, encode
from harness.files import load_scenarios
from harness.runner import run

CIRCLES = Path(__file__).parents[2] / "scenarios/loops/circles.yaml"


@cache
def played(name: str, of: str = "reference", path: Path = CIRCLES) -> History:
    """The history of a run, by the agent of that name."""
    (scenario,) = (one for one in load_scenarios(path) if one.run_name == name)
    return run(scenario, naive if of == "naive" else reference).history


def edited(history: History, *pairs: tuple[str, str]) -> History:
    """The history with other words on its lines; the digests stay names."""
    text = encode(history.events).decode()
    for old, new in pairs:
        assert old in text, f"no {old} to replace"
        text = text.replace(old, new)
    return decode(text.encode())
