from __future__ import annotations

from bench.backends import BACKENDS
from bench.curves import SIZES, Curve, Point
from bench.figure import Figure
from bench.page import REASONS, Reason, page
from bench.peers import MODES, Row, Table, figures
from harness.core.values.table_file import parse


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


def test_a_known_reason_stands_on_the_page_only_where_its_law_is_broken() -> None:
    name = "loopback, plain, of http.server of Python"
    curve = Curve("judging", [Point(size, size / 1000, 5.0) for size in SIZES])
    for value, shown in ((1.01, 1), (0.99, 0)):
        text = page(_table(0.001), [curve], [Figure(name, value, 1.0)])
        assert text.count(f"| {name} | {value:.2f} | 1 | Noise. |") == shown


def test_each_known_reason_is_of_a_figure_of_the_measures() -> None:
    measured = {figure.name for figure in figures(_table(0.001))}
    others = {"judging JSON Lines, of decoding them"}
    assert set(parse(REASONS.read_text("utf-8"), Reason, "reasons.tsv")) <= measured | others


def test_the_page_shows_each_backend_curve_and_law() -> None:
    curve = Curve("judging", [Point(size, size / 1000, 5.0) for size in SIZES])
    text = page(_table(0.001), [curve], [Figure("a law", 2.0, 1.0), Figure("another", 1.0, 1.0)])
    assert "| **loop-harness transport** | in process | 1.00 | 0.50 [0.50, 0.50] |" in text
    assert "| judging | 0.010 s | 0.100 s | 1.000 s | 10.000 s | 1.00 | 5 MB |" in text
    assert "| a law | 2.00 | 1 |  |" in text
    assert "- a peer was not measured: it is not installed." in text
