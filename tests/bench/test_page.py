from __future__ import annotations

from bench.backends import BACKENDS
from bench.curves import SIZES, Curve, Point
from bench.figure import Figure
from bench.page import page
from bench.peers import MODES, Row, Table, figures


def _table(ours_s: float) -> Table:
    rows = [
        Row(backend, mode, [ours_s if backend.is_ours else 0.002] * 9)
        for backend in BACKENDS
        for mode in MODES
    ]
    return Table(tuple(rows), {"a peer": "it is not installed"})


def test_a_peer_that_is_ahead_breaks_the_law() -> None:
    peers = len(BACKENDS) - 3
    for ours_s, is_over in ((0.001, False), (0.003, True)):
        found = [*figures(_table(ours_s))]
        assert len(found) == peers * len(MODES)
        assert {figure.is_over for figure in found} == {is_over}


def test_the_page_shows_each_backend_curve_and_law() -> None:
    curve = Curve("judging", [Point(size, size / 1000, 5.0) for size in SIZES])
    text = page(_table(0.001), [curve], [Figure("a law", 2.0, 1.0), Figure("another", 1.0, 1.0)])
    assert "| **loop-harness transport** | in process | 1.00 | 0.50 [0.50, 0.50] |" in text
    assert "| judging | 0.010 s | 0.100 s | 1.000 s | 10.000 s | 1.00 | 5 MB |" in text
    assert "| a law | 2.00 | 1 |  | **over** |" in text
    assert "- a peer was not measured: it is not installed." in text
