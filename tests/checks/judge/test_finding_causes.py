"""Session, seam, tool and faults of a finding follow from its proof, by one rule for all checks."""

from __future__ import annotations

import pickle

import msgspec
import pytest

from harness.checks.judge.causes import placed
from harness.core.history.history import History
from harness.core.values.calls import ModelRequest, ToolRequest
from harness.core.values.verdict import Cause, Finding, FindingKey, Place


def _history() -> History:
    history = History()
    history.called(key="model#1", seam="model", request=ModelRequest("m", ()), session="s")
    history.answered("model#1", "model", session="s", faults=("http.529",))
    history.called(key="model#2", seam="model", request=ModelRequest("m", ()), session="s")
    history.answered("model#2", "model", session="s", faults=("stream.cut",))
    history.called(key="tool:a", seam="tool", request=ToolRequest("a", "look"), session="t")
    history.answered("tool:a", "tool", session="t")
    history.called(key="tool:b", seam="tool", request=ToolRequest("b", "find"), session="t")
    history.effect(key="tool:b", name="find", session="t")
    history.ended(how="crashed", text="Traceback\nKeyError: 'a'")
    return history


_NO_CAUSE = Cause()


def _placed(*events: int, cause: Cause = _NO_CAUSE) -> Finding:
    (found,) = placed([Finding("a.b", "words", events, cause=cause)], _history())
    return found


def test_a_proof_names_its_sessions_and_seams_sorted() -> None:
    found = _placed(5, 1, 9)
    assert (found.session, found.seam) == ("s, t", "ended, model, tool")
    assert found.key("x") == FindingKey("a.b", Place("x", "", "s, t", found.seam), found.cause)


def test_the_tools_of_the_proof_are_named() -> None:
    assert _placed(7, 5).cause.tool == "find, look"
    assert _placed(8).cause.tool == "find"


def test_what_the_check_names_stays() -> None:
    assert _placed(5, cause=Cause(tool="other", subject="x")).cause == Cause("other", subject="x")


@pytest.mark.parametrize(
    ("events", "fault"),
    [
        ((1, 3), "http.529"),
        ((2,), "http.529"),
        ((1,), ""),  # the answer came after the mistake
        ((1, 3, 9), "http.529, stream.cut"),
        ((9,), ""),
    ],
)
def test_the_faults_are_those_that_were_met_before_the_end_of_the_proof(
    events: tuple[int, ...], fault: str
) -> None:
    assert _placed(*events).cause.fault == fault


def test_a_finding_without_a_proof_stays_as_it_is() -> None:
    assert _placed() == Finding("a.b", "words")
    assert _placed(99) == Finding("a.b", "words", (99,))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("no number: 'a'", ""),
        ("ValueError: a KeyError: 'b' (in parse)", "ValueError"),
        (
            "  raise KeyError(a)\nKeyError: 'a'\n\nDuring\n\njson.JSONDecodeError: x",
            "json.JSONDecodeError",
        ),
        ("HTTP 500: a TypeError", "TypeError"),
    ],
)
def test_the_error_of_a_program_is_the_one_that_its_last_words_name(text: str, error: str) -> None:
    assert History().ended(how="crashed", text=text).error == error
    assert History().ended(how="limit", text=text).error == ""


def test_a_finding_without_a_cause_is_the_same_json_after_a_worker_gave_it_back() -> None:
    for finding in (Finding("a.b", "words"), Finding("a.b", "words", cause=Cause(tool="look"))):
        again = pickle.loads(pickle.dumps(finding))
        assert again == finding
        assert msgspec.json.encode(again) == msgspec.json.encode(finding)
