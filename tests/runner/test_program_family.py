"""A program under test and all that it starts: nothing of it outlives its run, or the harness."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.core.scenario.scenario import InboxItem, Limits, Scenario, Turn
from harness.runner import run
from tests.runner.programs import GREET, program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux adopts orphans")

_HELLO = Scenario(
    name="hello",
    inbox=(InboxItem(text="hello"),),
    script=(Turn(say="Hello."),),
    limits=Limits(real_s=30.0),
)

_DAEMON = """
def daemon(environment, told):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve(sys.executable, [sys.executable, "-c", f\'\'\'
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open({told!r} + ".part", "w").write(str(os.getpid()))
os.rename({told!r} + ".part", {told!r})
time.sleep(600)
\'\'\'], environment)
        os._exit(0)
    os.wait()
    while not os.path.exists(told):
        time.sleep(0.01)

for number, environment in enumerate((dict(os.environ), {})):
    daemon(environment, FOLDER + f"/pid{number}")
"""


def _pids(folder: Path) -> list[int]:
    return [int(path.read_text()) for path in sorted(folder.glob("pid*"))]


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def _body(folder: Path, rest: str) -> str:
    return f"FOLDER = {str(folder)!r}\n{_DAEMON}\n{rest}"


@pytest.mark.parametrize("rest", [GREET, "os.kill(os.getpid(), 9)"])
def test_daemons_end_with_the_run(tmp_path: Path, rest: str) -> None:
    target = program(tmp_path, _body(tmp_path, rest))
    mine = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        run(_HELLO, target)
        assert mine.poll() is None, "what this process started before is left alone"
        assert len(_pids(tmp_path)) == 2
        assert [pid for pid in _pids(tmp_path) if _is_alive(pid)] == []
    finally:
        mine.kill()
        mine.wait()


def test_nothing_outlives_a_killed_harness(tmp_path: Path) -> None:
    rest = "open(FOLDER + '/ready', 'w').close()\ntime.sleep(600)"
    target = program(
        tmp_path, _body(tmp_path, f"open(FOLDER + '/pid2', 'w').write(str(os.getpid()))\n{rest}")
    )
    script = (
        "import sys\n"
        "from harness.core.scenario.scenario import InboxItem, Scenario, Turn\n"
        "from harness.runner import run\nfrom harness.targets import resolve\n"
        "run(Scenario(name='a', inbox=(InboxItem(text='a'),), script=(Turn(say='b'),)),"
        f" resolve({target.text!r}))\n"
    )
    harness = subprocess.Popen([sys.executable, "-c", script])
    try:
        _await(lambda: (tmp_path / "ready").exists())
        assert all(map(_is_alive, _pids(tmp_path)))
        harness.send_signal(signal.SIGKILL)
        harness.wait()
        marked = [_pids(tmp_path)[0], _pids(tmp_path)[2]]
        _await(lambda: not any(map(_is_alive, marked)))
    finally:
        harness.kill()
        harness.wait()
        for pid in _pids(tmp_path):
            if _is_alive(pid):
                os.kill(pid, signal.SIGKILL)


def _await(holds: object) -> None:
    assert callable(holds)
    end_s = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end_s
        time.sleep(0.02)
