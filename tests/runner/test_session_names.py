"""A session may have any printable name, and no file stands outside the run's folder by it."""

from __future__ import annotations

from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.agent import agent
from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.runner import run

NAMES = (
    st.text(st.sampled_from("./#?%\\:~ aé\u202e"), min_size=1, max_size=12)
    .map(str.strip)
    .filter(lambda name: name not in ("", ".", ".."))
)


@settings(max_examples=25, deadline=None)
@given(NAMES)
@example("../../../out")
@example("/model#1")
@example("main/model#1")
def test_a_chat_of_any_name_is_answered(name: str) -> None:
    made = run(_talk(name), agent)
    assert made.verdict.verdict == "pass", made.verdict.findings
    sessions = {turn.session for turn in made.history.trace.turns.values()}
    assert sessions == {name, "main"}


def _talk(name: str) -> Scenario:
    texts = ("Good day.", "Good evening.", "And good night.")
    inbox = [InboxItem(text=t, session=s) for t, s in zip(texts, (name, "main", name), strict=True)]
    script = tuple(Turn(say=f"Hello number {n}.") for n in range(3))
    return Scenario(name="talk", inbox=tuple(inbox), script=script)


def test_a_run_writes_below_its_folder_alone(tmp_path: Path) -> None:
    out = tmp_path / "a" / "b" / "runs"
    made = run(_talk("../../../out"), agent, out=out)
    assert made.verdict.verdict == "pass"
    files = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {path for path in files if path.parent == out / "talk" / "baseline"} != set()
