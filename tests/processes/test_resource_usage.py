"""Processor time and memory of programs and of this process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

import pytest

from harness.processes import resource_usage
from harness.processes.resource_usage import OfProgram, OfRun, Process, seconds, tree

TABLE = [
    Process(1, 0, 1, 100.0, 50.0),
    Process(10, 1, 10, 2.0, 5.0),
    Process(11, 10, 10, 3.0, 6.0),
    Process(12, 11, 12, 4.0, 7.0),
    Process(13, 1, 10, 5.0, 8.0),
    Process(20, 1, 20, 9.0, 9.0),
]
"""10 has a child, a grandchild in another group, and one whose parent has ended."""


def test_a_program_is_all_that_descends_from_it_and_its_group() -> None:
    assert tree(10, TABLE) == (14.0, 26.0, 0.0)
    assert tree(10, TABLE, frozenset({12})) == (10.0, 19.0, 0.0)


def test_the_time_in_line_is_that_of_all_its_processes() -> None:
    assert tree(10, TABLE, line_of=float).in_line_s == 10 + 11 + 12 + 13


@pytest.mark.parametrize(
    ("text", "expected"), [("00:07", 7.0), ("1:02:03", 3723.0), ("2-00:00:01", 172_801.0),
                           ("0:00.25", 0.25)],
)  # fmt: skip
def test_the_times_of_ps(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.skipif(shutil.which("ps") is None, reason="needs ps")
def test_ps_tells_what_proc_tells() -> None:
    mine = [p for p in resource_usage._of_ps() if p.pid == os.getpid()]
    assert [(p.parent, p.group) for p in mine] == [(os.getppid(), os.getpgrp())]
    assert mine[0].memory_mb > 1


def test_a_program_that_computes_is_seen_to() -> None:
    body = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", body],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        assert child.stdin is not None
        child.stdout.readline()
        used = OfProgram(child.pid)()
        child.stdin.write(b"\n")
    assert used.cpu_s >= 0.25
    assert used.memory_mb > 1


def test_a_run_is_charged_with_the_programs_that_it_starts() -> None:
    used = OfRun()
    before = used()
    body = "import time\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", body], check=True)
    assert used().cpu_s - before.cpu_s >= 0.25


@pytest.mark.timed
def test_waiting_uses_nothing() -> None:
    used = OfRun()
    before = used()
    time.sleep(0.1)
    assert used().cpu_s - before.cpu_s < 0.05
