"""What holds of every check: a prefix's findings stay, and a file judges as the run did."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.checks.judge import judge, own_checks
from harness.core.history.history import History, decode, encode
from harness.core.values.messages import assistant, user
from tests.checks.histories import Story, use

CALLS = st.builds(
    use, st.sampled_from(["list", "write", "poll"]), st.sampled_from([{}, {"path": "a"}])
)
TOOL_STEPS = st.tuples(
    st.just("tools"),
    st.lists(CALLS, min_size=1, max_size=2),
    st.sampled_from(["same", "changing", "failing", "refused"]),
    st.integers(1, 5),
)
STEPS = TOOL_STEPS | st.tuples(
    st.sampled_from(
        ["say", "cut", "overflow", "529", "429", "half", "compact", "cancel", "kill", "gone",
         "again", "final", "final", "draft"]
    )
)  # fmt: skip
TURNS = st.lists(
    st.tuples(st.sampled_from(["one", "two"]), st.lists(STEPS, max_size=5), st.booleans()),
    min_size=1,
    max_size=4,
)


def _play(turns: Any, stores: bool) -> History:
    story = Story(stores=stores)
    for text, steps, ends in turns:
        story.turn(text)
        for step in steps:
            _step(story, *step)
        if ends:
            story.reply("bye").final()
    return story.end()


HISTORIES = st.builds(_play, TURNS, st.booleans())
"""Stories of right and wrong agents, with findings of most checks."""


def _step(story: Story, name: str, *rest: Any) -> None:
    match name:
        case "tools":
            _tools(story, *rest)
        case "say":
            story.reply("hm")
        case "cut":
            story.reply(use("list"), complete=False).tool()
        case "overflow":
            story.fail(400, "V23", refused=("V23", "V4"), tokens=100)
        case "529":
            story.fail(529)
        case "429":
            story.wait(500).fail(429, retry_after="2")
        case "half":
            story.reply("half \ud83d", " ")
        case "compact":
            story.reply("sum", purpose="compact").reply("x", messages=[user("sum")], tokens=90)
        case "cancel":
            story.cancel()
        case "kill":
            story.killed()
        case "gone":
            story.gone("r1")
        case "again":
            story.row(user("one"), labels=["m1"])
        case "draft":
            story.row(assistant("bye"))
        case "final":
            story.final("done")


def _tools(story: Story, calls: Any, how: str, times: int) -> None:
    for _ in range(times):
        story.reply(*calls)
        for _ in calls:
            if how == "refused":
                story.refuse()
            else:
                content = str(story.last) if how == "changing" else "x"
                story.tool(content, error=how == "failing")


ENDED = {"target", "run", "limit", "script", "cassette", "expect"}


def _agents_fault(history: History) -> set[tuple[str, tuple[int, ...]]]:
    """What the invariants find, and where; a run's own failures and expectations need its end.

    The words of a finding may explain it by what comes later.
    """
    return {
        (finding.code, finding.events)
        for name, check in own_checks().items()
        if name not in ENDED
        for finding in check(history)
    }


@given(TURNS, st.booleans(), st.floats(0, 1))
def test_what_a_prefix_shows_the_whole_shows_too(turns: Any, stores: bool, part: float) -> None:
    whole = _play(turns, stores)
    lines = encode(whole.events).splitlines(keepends=True)
    prefix = decode(b"".join(lines[: round(part * len(lines))]))
    assert _agents_fault(prefix) <= _agents_fault(whole)


@given(TURNS, st.booleans())
def test_a_file_is_judged_as_the_run_was(turns: Any, stores: bool) -> None:
    history = _play(turns, stores)
    assert judge(decode(encode(history.events))) == judge(history)


@given(TURNS, st.booleans())
def test_no_check_crashes_and_every_proof_is_an_event(turns: Any, stores: bool) -> None:
    history = _play(turns, stores)
    verdict = judge(history)
    assert verdict.doubts == ()
    for finding in verdict.findings:
        assert finding.events
        assert all(0 < n <= len(history.events) for n in finding.events)
