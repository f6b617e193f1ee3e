"""Some hundreds of hostile cases into every writer, and what once ended a command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.writers import campaign
from tests.fuzz.writers.hostile_values import CLASSES, SECRET, Case
from tests.fuzz.writers.writers import WRITERS, Said, check

CHEAP = [name for name in CLASSES if name != "large"]


@pytest.fixture(autouse=True)
def _caught(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An agent may raise KeyboardInterrupt; the test session must not take it for Ctrl-C."""
    import signal

    former = signal.signal(signal.SIGINT, lambda *_: None)
    yield
    signal.signal(signal.SIGINT, former)


@pytest.mark.parametrize("kind", CHEAP)
def test_every_writer_takes_what_is_said(tmp_path: Path, kind: str) -> None:
    draws = Random(f"{kind} 17")
    for number in range(1, 5):
        case = CLASSES[kind](draws)._replace(kind=kind)
        tried = campaign.tries(case, draws, number, tmp_path)
        assert [(name, told) for name, told in tried if told] == []


@pytest.mark.parametrize("kind", CHEAP)
def test_a_run_whose_agent_says_it_has_its_row(tmp_path: Path, kind: str) -> None:
    draws = Random(f"{kind} 18")
    for place in range(2):
        case = CLASSES[kind](draws)._replace(kind=kind)
        number = campaign.RUN_EVERY * (place + 1)
        tried = dict(campaign.tries(case, draws, number, tmp_path))
        assert [(name, told) for name, told in tried.items() if told] == []
        assert tried.keys() >= {"runs", *WRITERS}


def test_a_failure_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(said: Said, folder: Path) -> None:
        check(SECRET not in said.case.text, "a secret")

    for name in WRITERS:
        monkeypatch.setitem(WRITERS, name, broken)
    tried = dict(campaign.tries(Case("secret", SECRET, SECRET), Random(1), 1, tmp_path))
    assert all(tried[name].startswith("Wrong: 'a secret' at ") for name in WRITERS)
