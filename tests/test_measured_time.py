"""No test of `make test` or `make test-real` compares measured time: a busy machine would fail it.

Of the tests, a file that reads a clock is listed here with the reason, or what reads it is `timed`.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

pytestmark = pytest.mark.source

TESTS = Path(__file__).parent

CLOCKS = frozenset({"monotonic", "perf_counter", "process_time", "thread_time"})

REASONS = {
    "clock/test_time_patch.py": "the virtual clock is asked",
    "clock/test_timekeeper.py": "the virtual clock is asked, and a thread computes for a while",
    "clock/test_virtual_clock.py": "the virtual clock is asked",
    "faults/clock/test_clock_faults.py": "the virtual clock is asked",
    "runner/test_later_lives.py": "what a later life reads from its clock is told",
    "runner/test_pauses.py": "an agent asks the virtual clock",
    "runner/test_program_family.py": "the patience of a test that waits for a process",
}


def _reads_a_clock(tree: ast.Module) -> bool:
    """Whether a file without a timed test names a clock."""
    named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return "timed" not in named and not named.isdisjoint(CLOCKS)


def test_a_test_that_reads_a_clock_is_known() -> None:
    found = {
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("test_*.py")
        if _reads_a_clock(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set(REASONS)
