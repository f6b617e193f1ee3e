"""What a run had where a fault found nothing to bend: streams, answers, calls of tools."""

from __future__ import annotations

import pytest

from harness.checks.evidence.unmet_faults import what_came
from harness.checks.expectations import run
from harness.core.values.messages import Text
from harness.core.values.plans import Sent, Wait
from tests.checks.histories import Story, use

STREAM = {"stream": True}


def _called(times: int) -> Story:
    story = Story().turn("go")
    for _ in range(times):
        story.reply(use("lookup")).tool("ok")
    return story


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("sse.invalid_json", "; no request asked for a stream, and 3 answers came plain"),
        ("http.unknown_stop", "; the model gave 3 answers, 2 of them with a call"),
        ("tools.late", "; the tools that ran: lookup 2 times"),
        ("clock.frozen", ""),
        ("", ""),
    ],
)
def test_a_run_with_plain_answers(fault: str, said: str) -> None:
    history = _called(2).reply(Text("done")).final("done").end(silent_faults=("x",))
    assert what_came(history.trace, fault) == said


def test_the_longest_stream_is_told_by_its_events_and_its_text() -> None:
    story = Story().turn("go")
    for count, text in ((4, "Hi."), (6, "Hello")):
        steps = (Sent(1, 9), Wait(5), Sent(count - 1, 90))
        story.reply(Text(text), request=STREAM, steps=steps)
    trace = story.end().trace
    said = "; the longest of 2 streams had 6 events, with 5 characters of text"
    assert what_came(trace, "sse.tiny_deltas") == said
    one = Story().turn("go").reply(Text("H"), request=STREAM, steps=(Sent(1, 9),)).end().trace
    assert what_came(one, "sse.tiny") == "; the stream had 1 event, with 1 character of text"


def test_a_run_without_an_answer_or_a_tool_that_ran() -> None:
    asked = Story().turn("go").reply(use("lookup")).end().trace
    assert what_came(asked, "tools.late").endswith("ran; the model made 1 call")
    silent = Story().turn("go").end().trace
    assert {what_came(silent, f) for f in ("sse.x", "model.x")} == {"; the model was not asked"}


def test_the_finding_says_it() -> None:
    history = _called(1).end(silent_faults=("sse.tiny_deltas",))
    (found,) = [f for f in run(history) if f.code == "run.silent_fault"]
    assert found.message.startswith("the armed fault never fired: sse.tiny_deltas; no request")
