"""How the time of each writer grows: eight times the text, and the ratio."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.fuzz.writers.hostile_values import Case
from tests.fuzz.writers.speakers import history_of
from tests.fuzz.writers.writers import WRITERS, Said

SMALL_CHARS, TIMES = 40_000, 8
MOST = 20.0
"""A quadratic writer takes 64 times as long; a linear one 8 times, and the machine is shared."""

PIECES = ("token=", "password", "\x1b[2J", "]]>", "\ud800", "A1b2", "`")


def _cpu_s(write: Callable[[Said, Path], None], said: Said, folder: Path) -> float:
    began = time.process_time()
    write(said, folder)
    return time.process_time() - began


def _said(piece: str, chars: int) -> Said:
    """A run in which the text stands at one place of four: rarely drawn texts are as large."""
    case = Case("large", piece * (chars // len(piece)), None)
    return Said(case, *history_of(case, Random(3)))


def growth(say: Callable[[str], None]) -> int:
    """Print the worst growth of each writer; return how many are not linear."""
    bad = 0
    with tempfile.TemporaryDirectory(prefix="growth-") as name:
        folder = Path(name)
        for writer, write in WRITERS.items():
            worst, of = 0.0, ""
            for piece in PIECES:
                small, large = (
                    _cpu_s(write, _said(piece, SMALL_CHARS * times), folder) for times in (1, TIMES)
                )
                if large / max(small, 0.01) > worst:
                    worst, of = large / max(small, 0.01), piece
            bad += worst > MOST
            say(f"{writer}: {TIMES} times the text takes {worst:.1f} times as long ({of!a})")
    return bad
