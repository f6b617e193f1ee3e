"""Statements 64 to 71: how much smaller, how long it may take, and what is stored meanwhile."""

from __future__ import annotations

import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent import agent as reference
from harness.agent.context_overflow import Escalation, compact
from harness.agent.conversation.history_size import (
    budget_tokens,
    estimate_tokens,
    fit,
    target_tokens,
    window_of,
)
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.sessions.jsonl_conversation import messages_of
from harness.agent.sessions.session_archive import Archive, ArchivedTranscript
from harness.agent.sessions.transcript import RowTranscript
from harness.core.values.calls import Inbound
from harness.core.values.messages import assistant, user
from harness.runner import run
from harness.stores.sqlite import SqliteStore
from tests.agent.replies import error, text, too_long
from tests.scenarios.all_runs import named
from tests.seeds.caught import caught
from tests.seeds.long_talk import LONG, PAST, SUMMARY, ends, said, stand

MANY = [user("ask " + LONG), assistant("say " + LONG)] * 200
"""About 200 000 estimated tokens."""


def _refuse(query: Query) -> ModelAnswer:
    raise ModelFailure("permanent", "no summaries today")


@pytest.mark.seed(64)
def test_the_budgets_of_rebuilt_histories_are_50k_and_15k(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    store.seed("main", MANY)
    transcript = RowTranscript(store, "main", list)
    transcript.open(Inbound("m1", text="and now?"))
    escalation, sizes = Escalation(compact), []
    while escalation.shrink(transcript, "request too large", _refuse):
        sizes.append(estimate_tokens(transcript.wire()))
    assert len(sizes) == 2
    assert 45_000 < sizes[0] <= 50_100
    assert 14_000 < sizes[1] <= 15_100


@pytest.mark.seed(64)
@given(st.integers(0, 5_000))
def test_with_a_budget_of_5k_or_less_the_turn_is_sent_alone(budget: int) -> None:
    [only] = fit([user("a"), assistant("b"), user("and now?")], budget)
    assert only.blocks[0] == user("and now?").blocks[0]
    assert len(fit([user("a"), assistant("b"), user("and now?")], 5_001)) == 3


@pytest.mark.seed(65)
def test_a_cancel_during_a_compaction_leaves_nothing_half_done(tmp_path: Path) -> None:
    """Nothing is uploaded here; what would be replayed later is the store, and it is whole."""
    cancelled: list[bool] = []

    def late(body: dict[str, Any]) -> Any:
        cancelled.append(True)
        return text(SUMMARY)

    ran = stand(tmp_path, too_long(), text("never"), summary=late)
    ran.is_cancelled = lambda: bool(cancelled)
    ran.run()
    assert ran.provider.purposes == ["main", "compact"]
    assert [status for _, status, _ in ends(ran)] == ["cancelled"]
    assert ran.rows()[: len(PAST) + 1] == [*PAST, user("and now?")]
    assert ran.store.load("main")[-1].message.role == "assistant"


@pytest.mark.seed(65)
def test_what_a_compaction_makes_old_is_no_longer_exported_when_it_is_cancelled(
    tmp_path: Path,
) -> None:
    """The transcript of the turn before is there until the compaction is used, and then gone."""
    archive = Archive(tmp_path / "claude", tmp_path)
    ran = stand(tmp_path, text("fine"), too_long(), text("never"), asked=("hi", "and now?"))
    there: list[bool] = []

    def is_cancelled() -> bool:
        there.append(bool(archive.read("main")[0]))
        return "compact" in ran.provider.purposes

    ran.is_cancelled = is_cancelled
    ran.run(transcript=partial(ArchivedTranscript, archive))
    assert [status for _, status, _ in ends(ran)] == ["ok", "cancelled"]
    assert True in there
    assert archive.read("main")[0] == b""


@pytest.mark.seed(66)
def test_the_first_turn_of_a_session_is_stored(tmp_path: Path) -> None:
    ran = stand(tmp_path, text("fine"), text("fine again"), past=[], asked=("hi", "and now?")).run()
    assert ran.rows() == [user("hi"), assistant("fine"), user("and now?"), assistant("fine again")]
    assert said(ran.provider.requests[1]).split("\n") == ["hi", "fine", "and now?"]


@pytest.mark.seed(66)
def test_the_first_turn_of_a_session_is_in_its_archive(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "claude", tmp_path)
    ran = stand(tmp_path, text("fine"), past=[], asked=("hi",))
    ran.run(transcript=partial(ArchivedTranscript, archive))
    data, _ = archive.read("main")
    assert messages_of(data) == ran.rows() == [user("hi"), assistant("fine")]


@pytest.mark.seed(67)
def test_a_summary_that_cannot_be_stored_is_not_used(tmp_path: Path) -> None:
    ran = stand(tmp_path, too_long(), text("fine"))

    def full(*_: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    ran.store.summarise = full
    archive = Archive(tmp_path / "claude", tmp_path)
    ran.run(transcript=partial(ArchivedTranscript, archive))
    assert archive.read("main")[0] == b""
    assert ran.provider.purposes == ["main", "compact", "main"]
    assert SUMMARY not in said(ran.provider.requests[2])
    assert "left out" in said(ran.provider.requests[2])
    assert ends(ran) == [("final", "ok", "fine")]
    assert ran.store.load("main")[0].message == PAST[0]


@pytest.mark.seed(68, kind="mutant")
@pytest.mark.parametrize("blank", ["", " ", "\n\t ", "\u00a0", "\u2028"])
def test_a_blank_prompt_is_refused_before_anything_is_stored(tmp_path: Path, blank: str) -> None:
    ran = stand(tmp_path, text("never"), asked=(blank,)).run()
    assert ran.provider.purposes == []
    assert ran.rows() == PAST
    [(kind, status, told)] = ends(ran)
    assert (kind, status, "empty_prompt" in told) == ("error", "failed", True)


@pytest.mark.seed(68, kind="mutant")
def test_an_agent_that_stores_it_first_is_caught() -> None:
    caught("persists_blank")


@pytest.mark.seed(69, kind="mutant")
@pytest.mark.parametrize("stream", ["", "+stream"])
def test_a_summary_has_a_minute_and_what_replaces_it_waits_for_nobody(stream: str) -> None:
    trace = run(named(f"overflow-summaries/hangs{stream}"), reference).history.trace
    first, summary, second = trace.exchanges
    assert summary.answered is not None
    assert (first.purpose, summary.purpose, second.purpose) == ("main", "compact", "main")
    assert summary.answered.outcome == "timeout"
    waited_ms = second.called.at_ms - summary.called.at_ms
    assert 60_000 <= waited_ms <= 90_000


@pytest.mark.seed(69, kind="mutant")
def test_an_agent_that_waits_as_long_as_the_sdk_is_caught() -> None:
    caught("waits_for_summary")


@pytest.mark.seed(70)
@pytest.mark.parametrize(
    ("window", "target"),
    [(200_000, 140_000), (1_000_000, 940_000), (None, 120_000), (8_000, 4_000), (1, 0)],
)
def test_the_target_knows_the_window(window: int | None, target: int) -> None:
    assert target_tokens(window) == target


@pytest.mark.seed(70)
@pytest.mark.parametrize(
    ("model", "window"),
    [("claude-sonnet-5", 200_000), ("claude-sonnet-4-5[1m]", 1_000_000), ("local-model", None)],
)
def test_the_window_is_known_by_the_models_name(model: str, window: int | None) -> None:
    assert window_of(model) == window


@pytest.mark.seed(70)
def test_a_refusal_that_names_the_window_is_believed_before_the_name() -> None:
    had = estimate_tokens(MANY)
    named_ = budget_tokens(MANY, "prompt is too long: 1040000 tokens > 1000000 maximum", 200_000)
    assert named_ == had * 940_000 // 1_040_000
    assert budget_tokens(MANY, "request too large", 200_000) == min(had // 2, 140_000)
    assert budget_tokens(MANY * 2, "request too large", None) == 120_000


def _windowed(window: int, answers: list[Any]) -> Any:
    """A provider with a real window: it refuses by size."""

    def answer(body: dict[str, Any]) -> Any:
        tokens = len(str(body["messages"])) // 4
        return too_long(tokens, window) if tokens > window else answers.pop(0)

    return answer


@pytest.mark.seed(71)
def test_after_a_compaction_there_is_room_for_more(tmp_path: Path) -> None:
    past = [user("ask " + LONG), assistant("say " + LONG)] * 4
    more = [text(f"answer {n} " + LONG[:400]) for n in range(4)]
    ran = stand(tmp_path, _windowed(4_000, more), past=past, asked=("a", "b", "c", "d")).run()
    assert ran.provider.purposes == ["main", "compact", "main", "main", "main", "main"]
    assert [status for _, status, _ in ends(ran)] == ["ok"] * 4


@pytest.mark.seed(71)
def test_a_summary_that_leaves_no_room_is_not_used(tmp_path: Path) -> None:
    """It would fit into the window, and with it the prompt would soon be too long again."""
    past = [user("ask " + LONG), assistant("say " + LONG)] * 4
    window = _windowed(4_000, [text("fine")])
    ran = stand(tmp_path, window, past=past, summary=text("x" * 12_800)).run()
    assert ran.provider.purposes == ["main", "compact", "main"]
    assert "left out" in said(ran.provider.requests[2])
    assert ran.store.load("main")[0].message == past[0]


@pytest.mark.seed(71, kind="mutant")
def test_a_target_just_under_the_trigger_is_caught() -> None:
    caught("just_under_the_trigger")


@pytest.mark.seed(71)
def test_soon_after_a_compaction_there_is_no_other(tmp_path: Path) -> None:
    """Two steps later it is the store's turn; and a long turn may compact again."""
    for name, second in (("", "main"), ("/twice-in-one-turn", "compact")):
        scenario = named(f"overflow-in-a-tool-loop{name}")
        purposes = [e.purpose for e in run(scenario, reference).history.trace.exchanges]
        assert purposes.count("compact") == (2 if second == "compact" else 1)
    trace = run(named("overflow-in-a-tool-loop/compacted-and-rebuilt"), reference).history.trace
    assert [e.purpose for e in trace.exchanges] == ["main", "main", "compact", "main", "main"]


@pytest.mark.seed(71)
def test_a_second_summary_tells_the_first_one_too() -> None:
    asked: list[str] = []

    def ask(query: Query) -> ModelAnswer:
        asked.append(query.messages[0].text)
        return ModelAnswer(assistant(f"summary {len(asked)}"), "end_turn")

    first = compact([*PAST, user("and now?")], 10_000, ask)
    assert first is not None
    steps = [assistant("step " + LONG), user("go on"), assistant("last")]
    second = compact([first.summary, *steps], 10_000, ask)
    assert second is not None
    assert "summary 1" in asked[1]
    assert second.summary.text.count("Summary of the conversation so far") == 1
    assert second.summary.text.endswith("go on")


@pytest.mark.seed(64)
def test_a_turn_that_is_too_large_alone_is_cut_to_size(tmp_path: Path) -> None:
    huge = "x" * 100_000
    ran = stand(tmp_path, _windowed(2_000, [text("fine")]), past=[], asked=(huge,)).run()
    assert ends(ran) == [("final", "ok", "fine")]
    assert ran.rows()[0] == user(huge)


@pytest.mark.seed(69)
def test_a_summary_is_asked_for_once_and_without_a_stream(tmp_path: Path) -> None:
    ran = stand(tmp_path, too_long(), text("fine"), summary=error(529, "x", "overloaded_error"))
    ran.options["stream"] = True
    ran.run(overflow=partial(Escalation, window_tokens=None))
    assert ran.provider.purposes == ["main", "compact", "main"]
    assert [bool(r.get("stream")) for r in ran.provider.requests] == [True, False, True]
