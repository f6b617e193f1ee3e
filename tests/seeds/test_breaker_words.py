"""Statements 165, 169 to 176: what a breaker counts, how often it is asked, and what it tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.agent.guards import (
    EmptyInputGuard,
    EndTurn,
    Guide,
    IdenticalFailureGuard,
    Proceed,
    RepeatGuard,
    Watch,
    standard_guards,
)
from harness.agent.models.failures import ModelFailure
from harness.agent.sessions.turn_outcome import gave_up
from harness.agent.tool_environment import Environments, EnvironmentSpec
from harness.agent.toolbox import Toolbox, error_result
from harness.core.history.events import Answered
from harness.core.values.brief import Tool
from harness.core.values.messages import Json, ToolResult, ToolUse
from harness.core.values.visible_text import visible, visible_line
from tests.agent.replies import text, use, uses
from tests.agent.stand import Stand
from tests.seeds.environments import Recording
from tests.seeds.guarding import decide, one_by_one, passes, runs_before_refusal

FAIL = ("memory", {"action": "replace"}, ValueError("old_text is required"))


@pytest.mark.seed(165, kind="differs")
@pytest.mark.parametrize("mark", ["\r", "\n", "\r\n", "\x1b[2J", "\x00", "\u2028", "\u202e"])
def test_a_control_character_in_an_id_forges_no_line_of_a_log(mark: str) -> None:
    """Differs: upstream strips these characters. Here they become escapes, because the id that was
    really used is what a reader looks for. Nothing is pending by its path here: a transcript is
    replaced as a whole, so no path is overwritten."""
    shown = visible_line(f"night{mark}[ERROR] forged")
    assert len(shown.splitlines()) == 1
    assert shown.isprintable()
    assert shown.startswith("night\\u00" if ord(mark[0]) < 256 else "night\\u20")
    assert visible("two\nlines") == "two\nlines"


@pytest.mark.seed(169)
def test_a_tool_that_raises_fails_like_one_that_returns_an_error() -> None:
    def raises(given: Json, id: str) -> Json:
        raise ValueError("old_text is required")

    call = ToolUse("t", "memory", {"action": "replace"})
    ran = Toolbox([Tool("memory", "Remember", {}, raises)]).run(call)
    assert ran == error_result(call, "old_text is required")
    raised, returned = IdenticalFailureGuard(), IdenticalFailureGuard()
    for _ in range(4):
        raised.begin_step()
        returned.begin_step()
        assert raised.before(call) == returned.before(call)
        assert raised.after(call, ran) == returned.after(call, error_result(call, ran.text))


class Counting:
    """A guard that notes how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def begin_step(self) -> None:
        """Note the batch."""
        self.asked.append("step")

    def before(self, call: ToolUse) -> Proceed:
        """Note the call."""
        self.asked.append(f"before {call.id}")
        return Proceed()

    def after(self, call: ToolUse, result: ToolResult) -> Proceed:
        """Note the result."""
        self.asked.append(f"after {call.id}")
        return Proceed()


@pytest.mark.seed(170)
def test_a_call_is_put_to_the_breaker_once(tmp_path: Path) -> None:
    guard = Counting()
    ran = Stand(tmp_path, [uses(("a", "look", {}), ("b", "look", {})), text("fine")], "hello")
    ran.tool("look", "seen")
    ran.run(guards=lambda specs: [guard])
    assert guard.asked == ["step", "before a", "after a", "before b", "after b"]


@pytest.mark.seed(171, kind="differs")
def test_each_empty_call_is_recorded_with_what_its_stream_says() -> None:
    """Differs: the agent writes no log, so there is no first call that is logged in full. The
    history of a run has every call whole, with the stop reason of its stream."""
    trace = passes("empty-inputs").history.trace
    empty = [ask.exchange for ask in trace.asks if not ask.use.input]
    assert len(empty) > 2
    for exchange in empty:
        assert isinstance(exchange.answered, Answered)
        assert exchange.answered.complete
        assert exchange.stop == "tool_use"


@pytest.mark.seed(172, kind="differs")
def test_the_guidance_says_how_a_large_file_is_written() -> None:
    """Differs in one word: upstream says 2,000 words a section. How many fit into an answer is the
    model's limit, which the agent does not know."""
    guard = EmptyInputGuard(lambda name: ("path", "content"))
    [refused] = decide(guard, ("write", {}, ""))
    said = getattr(refused, "text", "")
    assert "write a file part by part" in said
    assert "pass its path" in said


@pytest.mark.seed(173)
@pytest.mark.parametrize(
    ("kind", "may_come_again"),
    [("transient", True), ("broken_stream", True), ("permanent", False), ("budget", False)],
)
def test_what_may_be_retried_is_told_by_one_mark_in_the_text(
    kind: Any, may_come_again: bool
) -> None:
    told = gave_up(ModelFailure(kind, "overloaded"))
    assert told.text.endswith("retryable)") == may_come_again
    assert set(told.__struct_fields__) == {"status", "message", "kind", "told", "also"}


@pytest.mark.seed(174, kind="differs")
def test_a_suggestion_is_added_to_the_error_once(tmp_path: Path) -> None:
    """Differs: upstream asks a compression model for words in the language of the prompt. Here the
    text is fixed and in English. It needs no model, which may be what fails."""
    ran = Stand(tmp_path, [use("memory", FAIL[1]), use("memory", FAIL[1]), text("no")], "hello")
    ran.tool("memory", FAIL[2])
    ran.run()
    first, second = [r.text for row in ran.rows() for r in row.tool_results]
    assert first == "old_text is required"
    [guided] = decide(_warned(), FAIL)
    assert isinstance(guided, Guide)
    assert second == f"{first}{guided.text}" or second == f"{first}\n{guided.text}"
    assert second.count(guided.text) == 1


def _warned() -> Watch:
    watch = Watch(standard_guards(()))
    decide(watch, FAIL)
    return watch


@pytest.mark.seed(175, kind="differs")
def test_empty_results_are_no_failures_and_equal_ones_are_stopped() -> None:
    """Differs: upstream counts a result without content as a failure. A search that finds nothing
    has not failed (statement 103). The same call with the same empty result is a repetition."""
    other = [("search", {"for": n}, "") for n in range(9)]
    assert one_by_one(Watch(standard_guards(())), other) == ["Proceed"] * 9
    same = [("search", {"for": 1}, "")] * 9
    assert runs_before_refusal(one_by_one(RepeatGuard(), same)) == 3
    found = [("search", {"for": 1}, "") if n % 3 else ("search", {"for": 1}, n) for n in range(9)]
    assert "Refuse" not in one_by_one(RepeatGuard(), found)


class Halting(Counting):
    """A guard that ends the turn at once, with its own words."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words

    def after(self, call: ToolUse, result: ToolResult) -> EndTurn:  # type: ignore[override]
        """The end of the turn."""
        return EndTurn(self.words)


@pytest.mark.seed(176)
def test_of_two_halts_in_one_batch_the_first_is_told(tmp_path: Path) -> None:
    ran = Stand(tmp_path, [uses(("a", "look", {}), ("b", "look", {})), text("I stop.")], "hello")
    ran.tool("look", "seen")
    ran.run(guards=lambda specs: [Halting("the guardrail."), Halting("the error loop.")])
    asked = json.dumps(ran.provider.requests[-1]["messages"])
    assert "the guardrail." in asked
    assert "the error loop." not in asked
    assert ran.calls == [("look", {})]
    assert len([said for said in ran.said if said["kind"] == "final"]) == 1


@pytest.mark.seed(176, kind="differs")
def test_without_containers_their_settings_change_nothing() -> None:
    """Differs: there is no second backend. A task whose tools need no environment makes none, so
    settings of containers have no effect."""
    backend = Recording()
    environments = Environments(backend, lambda: EnvironmentSpec(image="python:3.12", cpus=2.0))
    assert environments.ready("main", "search") is None
    assert Environments(None, EnvironmentSpec).ready("main", "terminal") is None
    assert backend.asked == []
