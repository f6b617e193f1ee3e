"""Which programs can play a run is told by their profiles, the run's needs, and its waits."""

from __future__ import annotations

import pytest

from harness.targets.known import known
from tests.catalogue.proof_runs import lacks_of, programs_of, wires_of

ALL = tuple(known())

WITHOUT_GEMINI = tuple(name for name in ALL if not name.startswith("gemini"))
"""The session file of Gemini CLI holds no call without its result."""


@pytest.mark.parametrize(
    ("run", "programs", "lacks"),
    [
        ("same-call-twice", ALL, ()),
        ("call-without-result", WITHOUT_GEMINI, ()),
        ("gated-call-in-a-batch/never-answered", (), ()),
        ("killed-between-two-results", (), ("store",)),
        (
            "stopped-before-the-first-tool/three-calls",
            (
                *("claude-code", "codex", "gemini-cli-acp", "gemini-cli"),
                *("opencode-acp", "opencode", "qwen-code-acp", "qwen-code"),
            ),
            (),
        ),
        ("calls-glued-together@openai-chat+stream", ("hermes", "qwen-code-acp", "qwen-code"), ()),
    ],
)
def test_a_program_plays_what_it_has_and_speaks(
    run: str, programs: tuple[str, ...], lacks: tuple[str, ...]
) -> None:
    assert (programs_of(run), lacks_of(run)) == (programs, lacks)


def test_a_run_plays_on_the_apis_of_its_variant() -> None:
    assert wires_of("same-call-twice") == ("anthropic", "openai-chat", "openai-responses", "gemini")
    assert wires_of("end-told-too-early/never-told@openai-chat+stream") == ("openai-chat",)
