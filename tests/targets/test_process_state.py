"""What a target changes in its process beside its run is put back for the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.runner import run
from tests.targets.test_process_exits import HELLO, greet


def state() -> dict[str, object]:
    mask = os.umask(0o077)
    os.umask(mask)
    return {
        "folder": os.getcwd(),
        "umask": mask,
        "environment": dict(os.environ),
        "handlers": {n: signal.getsignal(n) for n in signal.valid_signals()},
        "path": list(sys.path),
        "recursion": sys.getrecursionlimit(),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "hooks": (sys.excepthook, sys.unraisablehook),
        "timer": signal.getitimer(signal.ITIMER_PROF),
    }


def disturb(brief: Any) -> None:
    greet(brief)
    os.chdir(brief.session_dir)
    os.umask(0)
    os.environ["DISTURBED"] = "yes"
    os.environ["PATH"] = "/nowhere"
    os.environ.pop("HOME", None)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, lambda number, frame: None)
    sys.path[:] = ["/nowhere"]
    sys.setrecursionlimit(123_456)
    sys.stdin, sys.stdout, sys.stderr = None, None, object()  # type: ignore[assignment]
    sys.excepthook = sys.unraisablehook = None  # type: ignore[assignment]
    signal.setitimer(signal.ITIMER_PROF, 3600)


def test_a_run_leaves_the_process_as_it_was() -> None:
    run(HELLO, greet)  # what is imported by the first run is there
    before = state()
    assert run(HELLO, disturb).verdict.verdict == "pass"
    assert state() == before


def test_modules_that_a_run_forgets_are_the_same_for_the_next_one() -> None:
    run(HELLO, greet)
    before = dict(sys.modules)

    def agent(brief: Any) -> None:
        greet(brief)
        sys.modules.clear()

    run(HELLO, agent)
    assert {name: sys.modules.get(name) for name in before} == before
    assert run(HELLO, greet).verdict.verdict == "pass"


def test_additions_of_a_run_that_imports_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "late_part.py").write_text(
        f"import os, sys\nos.environ['LATE_PART'] = '1'\nsys.path.append({str(tmp_path / 'a')!r})\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("LATE_PART", "")
    monkeypatch.delenv("LATE_PART")

    def agent(brief: Any) -> None:
        __import__("late_part")
        greet(brief)

    run(HELLO, agent)
    assert os.environ["LATE_PART"] == "1"
    assert str(tmp_path / "a") in sys.path


CLOSING = """
import os
from harness.runner import run
from tests.targets.test_process_exits import HELLO, greet

def closes(brief):
    greet(brief)
    os.closerange(0, 3)

print(run(HELLO, closes).verdict.verdict, flush=True)
print(run(HELLO, greet).verdict.verdict, flush=True)
"""


def test_standard_files_that_a_target_closes_are_open_again() -> None:
    made = subprocess.run(
        [sys.executable, "-c", CLOSING],
        cwd=Path(__file__).parents[2], timeout=600, capture_output=True, text=True,
    )  # fmt: skip
    assert made.stdout.splitlines() == ["pass", "pass"]
