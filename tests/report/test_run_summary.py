"""The command that repeats a run survives a shell."""

from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st

from harness.report.run_summary import Invocation, run_command


@given(path=st.text(min_size=1), target=st.text(min_size=1), name=st.text(min_size=1))
def test_a_shell_reads_the_same_words(path: str, target: str, name: str) -> None:
    asked = Invocation(path=path, target=target, world="simulate", store="jsonl:x y")
    assert shlex.split(run_command(asked, name, 3)) == [
        *("harness", "run", path, "--only", name, "--target", target),
        *("--seed", "3", "--world", "simulate", "--store", "jsonl:x y"),
    ]


def test_what_was_not_asked_for_is_not_said() -> None:
    command = run_command(Invocation(path="a.yaml", target="reference"), "a", 0)
    assert command == "harness run a.yaml --only a --target reference --seed 0"
