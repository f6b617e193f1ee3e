"""One event, one line: short, printable, and saying who did what."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from harness.core.history.events import Noted, Valued
from harness.core.history.history import History
from harness.core.values.calls import ModelRequest
from harness.verdicts.event_lines import event_lines, quoted, short
from tests.report.fabricated import history

JSON = st.recursive(st.none() | st.booleans() | st.text(), lambda v: st.dictionaries(st.text(), v))


def test_every_event_of_a_run(snapshot: SnapshotAssertion) -> None:
    assert "\n".join(f"{n:>3} {line}" for n, line in event_lines(history()).items()) == snapshot


def test_only_values_have_no_line() -> None:
    made = history()
    silent = {e.n for e in made.events} - set(event_lines(made))
    assert silent == {e.n for e in made.events if isinstance(e, (Noted, Valued))}


def test_lines_of_chosen_events() -> None:
    made = history()
    assert event_lines(made, [1, 7]) == {n: t for n, t in event_lines(made).items() if n in (1, 7)}


@given(text=st.text(), cut=st.integers(2, 80))
def test_a_text_is_one_printable_line(text: str, cut: int) -> None:
    said = quoted(text, cut)
    assert len(said) <= cut + 2
    assert said.isprintable()


@given(value=JSON, cut=st.integers(2, 80))
def test_a_value_is_one_printable_line(value: object, cut: int) -> None:
    said = short(value, cut)
    assert len(said) <= cut + 2
    assert said.isprintable()


def test_a_call_of_another_provider_than_the_runs_says_which() -> None:
    told = History()
    told.started(run="r", scenario="r", wire="anthropic")
    for n, (provider, route) in enumerate((("anthropic", ""), ("gemini", ""), ("anthropic", "/x"))):
        request = ModelRequest("m", ())
        told.called(key=f"#{n}", seam="model", request=request, provider=provider, route=route)
    assert [*event_lines(told).values()][1:] == [
        "model  ← 0 messages",
        'model  ← to gemini "m", 0 messages',
        'model  ← at "/x", 0 messages',
    ]
