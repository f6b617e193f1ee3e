"""A program that plays many runs: one process, a new one after a failure, nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from harness.core.history.events import Called, Ended, Started
from harness.core.scenario.scenario import FaultSpec, InboxItem, Limits, Scenario, Turn
from harness.core.values.errors import InputError
from harness.runner import Run, run
from harness.targets import TargetSpec, resolve
from harness.targets.process_target import lasting_programs
from tests.runner import programs

pytestmark = pytest.mark.real

HELLO = Scenario(
    name="hello", inbox=(InboxItem(text="hello"),), script=(Turn(say="Hello to you."),)
)

RUNS = """
def runs():
    while True:
        with urllib.request.urlopen(os.environ["HARNESS_RUNS_URL"]) as answer:
            if answer.status == 204:
                return
            if answer.status == 200:
                yield json.load(answer)

for run in runs():
    os.environ.update(run)
"""

TELLS_ITSELF = """
    for message in inbox():
        ask(message['text'])
        say(message, f"Hello to you. {os.getpid()} {os.environ['HARNESS_SEED']}")
"""


@pytest.fixture(autouse=True)
def _no_program_is_left() -> object:
    yield
    lasting_programs()._end()


def program(folder: Path, body: str) -> TargetSpec:
    """A target that runs `body` for each run."""
    bare = programs.program(folder, RUNS + body)
    return resolve(f"{bare.text}?runs=many")


def told(result: Run) -> list[str]:
    return [
        e.request.text
        for e in result.history.events
        if isinstance(e, Called) and e.seam == "outbox" and hasattr(e.request, "text")
    ]


def ended(result: Run) -> Ended:
    last = result.history.events[-1]
    assert isinstance(last, Ended)
    return last


def test_one_process_plays_one_run_after_the_other(tmp_path: Path) -> None:
    target = program(tmp_path, TELLS_ITSELF)
    said = [told(run(HELLO, target, seed=seed))[0].split()[-2:] for seed in (3, 4, 5)]
    assert len({pid for pid, _ in said}) == 1
    assert [seed for _, seed in said] == ["3", "4", "5"]


def test_a_run_that_fails_ends_the_program_and_the_next_one_has_another(tmp_path: Path) -> None:
    body = (
        """
    if os.environ["HARNESS_SEED"] == "1":
        ask("hello"); print("about to fail", file=sys.stderr); sys.exit(7)
    if os.environ["HARNESS_SEED"] == "2":
        ask("hello"); time.sleep(60)
"""
        + TELLS_ITSELF
    )
    target = program(tmp_path, body)
    first = told(run(HELLO, target, seed=0))
    crashed = ended(run(HELLO, target, seed=1))
    assert (crashed.how, crashed.exit_code, crashed.text) == ("crashed", 7, "about to fail")
    slow = msgspec.structs.replace(HELLO, limits=Limits(real_s=1.5))
    assert ended(run(slow, target, seed=2)).how == "hung"
    last = run(HELLO, target, seed=0)
    assert last.verdict.findings == ()
    assert told(last) != first


def test_after_a_scripted_kill_it_gets_the_same_run_again(tmp_path: Path) -> None:
    scenario = msgspec.structs.replace(
        HELLO, faults=(FaultSpec(kind="gateway.killed", on="model", when=1),),
        script=(Turn(say="Hello to you.", times=2),),
    )  # fmt: skip
    body = "    open(os.path.join(run['HARNESS_SESSION_DIR'], 'starts'), 'a').write('x')\n"
    target = program(tmp_path, body + TELLS_ITSELF)
    played = run(scenario, target, keep=True)
    attempts = [e.attempt for e in played.history.events if isinstance(e, Started)]
    assert attempts == [0, 1]
    assert ended(played).how == "returned"


def test_nothing_is_left_when_the_process_that_played_ends(tmp_path: Path) -> None:
    target = program(tmp_path, TELLS_ITSELF)
    code = (
        "from harness.runner import run; from harness.targets import resolve;"
        "from tests.runner.test_lasting_programs import HELLO, told;"
        f"print(told(run(HELLO, resolve({target.text!r})))[0].split()[-2])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


@pytest.mark.parametrize("option", ["runs=few", "cancel=sigkill"])
def test_an_option_that_means_nothing_is_refused(option: str) -> None:
    with pytest.raises(InputError, match=r"(runs|cancel) is "):
        resolve(f"process:true?{option}")
