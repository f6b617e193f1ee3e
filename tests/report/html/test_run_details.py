"""What a page has of a history: each event that has a line, each message once, texts cut."""

from __future__ import annotations

import json

import msgspec
from syrupy.assertion import SnapshotAssertion

from harness.core.history.history import History
from harness.core.values.messages import Json, user
from harness.report.html.page_runs import DEPTH_MAX, RunDetails, run_details, shortened
from harness.verdicts.event_lines import event_lines
from tests.report.fabricated import history


def test_the_details_of_a_run(snapshot: SnapshotAssertion) -> None:
    assert msgspec.to_builtins(run_details(history())) == snapshot


def test_every_event_with_a_line_is_there() -> None:
    made = history()
    assert [event["n"] for event in run_details(made).events] == list(event_lines(made))


def test_the_same_history_has_the_same_details() -> None:
    assert run_details(history()) == run_details(history())


def test_a_long_text_is_cut_and_what_is_left_out_is_counted() -> None:
    made = History()
    made.note(user("a" * 500))
    (message,) = run_details(made, 100).messages
    said = message["blocks"][0]["text"]
    assert said == "a" * 100 + "… [400 more characters in the history]"
    assert shortened({"a": ["b" * 5, 1, None]}, 5) == {"a": ["b" * 5, 1, None]}


def test_a_history_of_nothing_has_no_details() -> None:
    assert run_details(History()) == RunDetails((), (), ())


def test_a_value_nests_no_deeper_than_the_page_shows() -> None:
    value: Json = "deep"
    for _ in range(900):
        value = [value]
    assert json.dumps(shortened(value, 9)).count("[") == DEPTH_MAX + 2
    assert shortened([["a"]], 9) == [["a"]]


def test_no_part_of_a_secret_is_left_at_a_cut() -> None:
    key = "sk-ant-api03-" + "Zq7Lm2Xc9Vb4Np6Rt8Yw3Ks5Hd1Gf0Ja" * 3
    assert "Zq7" not in str(shortened(f"{'a' * 10} {key}", 30))
