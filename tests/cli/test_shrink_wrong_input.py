"""`shrink` with input it cannot use: one line that says why, and no file written over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.talks import CHAT, OSLO, REFERENCE, Command, shrink_words

WRONG = {
    "no target": (("shrink", "scenarios/chat.yaml"), "--target: name the agent"),
    "no such check": (shrink_words("--keep", "targt.crashed"), "did you mean 'target'?"),
    "no such finding": (
        shrink_words("--keep", "target.hung", "--only", "chat"),
        "chat: no finding 'target.hung', but target.crashed",
    ),
    "in none of the runs": (
        shrink_words("--keep", "target.crashed", target="reference"),
        "scenarios/chat.yaml: in 4 runs: no finding",
    ),
    "no such file": (("shrink", "nowhere.yaml", "--target", REFERENCE), "nowhere.yaml: no such"),
    "a folder without a run": (("shrink", "scenarios", "--target", REFERENCE), "no history"),
    "no such run": (
        shrink_words("--only", "chatt"),
        "--only chatt: no run of this name; did you mean 'chat' or 'chat/quiet' or 'chat+stream'?",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_input(in_process: Command, what: str) -> None:
    words, said = WRONG[what]
    done = in_process(*words)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_the_scenario_itself_is_never_written_over(in_process: Command, talks: Path) -> None:
    small = "scenarios/chat-crashed.yaml"
    (talks / small).write_text(CHAT.replace("name: chat", "name: chat-crashed"), "utf-8")
    (talks / "scenarios/chat-crashed-crashed.yaml").symlink_to(talks / small)
    done = in_process("shrink", small, "--target", OSLO, "--out", "scenarios")
    assert done.status == 2
    assert "the folder of the scenario itself" in done.err
    assert "A long talk" in (talks / small).read_text("utf-8")
