"""Statements 110 to 115: what a stop leaves behind, what it compares, and what stays uncounted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.agent.guards import EndTurn, Guard, Proceed, Refuse, Watch, standard_guards
from harness.core.values.messages import Json, Text, ToolResult, ToolUse
from tests.agent.replies import text, use, uses
from tests.agent.stand import Stand
from tests.seeds.caught import caught
from tests.seeds.guarding import one_by_one, passes, runs_before_refusal, words


@pytest.mark.seed(110, kind="mutant")
def test_a_block_inside_a_batch_leaves_no_call_without_its_result(tmp_path: Path) -> None:
    batch = [("a", "memory", {}), ("b", "other", {}), ("c", "memory", {}), ("d", "memory", {})]
    replies = [uses(*((f"{id}{n}", *rest) for id, *rest in batch)) for n in range(3)]
    stand = Stand(tmp_path, [*replies, text("I could not.")], "hello")
    stand.tool("memory", ValueError("old_text is required"))
    stand.tool("other", "fine")
    stand.run()
    for asked, answered in zip(stand.rows()[1:6:2], stand.rows()[2:7:2], strict=True):
        assert [u.id for u in asked.tool_uses] == [r.id for r in answered.tool_results]
    caught("halts_without_results")


@pytest.mark.seed(111, kind="mutant")
def test_a_result_is_compared_without_what_was_added_to_it() -> None:
    done = passes("circles/one-call")
    assert done.history.past.tool_calls["read"] == 3
    caught("hashes_guidance")


@pytest.mark.seed(112)
@pytest.mark.parametrize("half", ["\ud83d", "a\udc00b", ["\ud83d"], {"\ud83d": "\ud83d"}])
@pytest.mark.parametrize("fails", [True, False])
def test_half_an_emoji_does_not_raise_and_counts(half: Json, fails: bool) -> None:
    watch = Watch(standard_guards(()))
    said = ValueError(str(half)) if fails else str(half)
    assert runs_before_refusal(one_by_one(watch, [("t", {"a": half}, said)] * 6)) == 3


@pytest.mark.seed(112, kind="mutant")
def test_hashing_half_an_emoji_breaks_the_turn() -> None:
    assert "surrogates not allowed" in str(
        caught("surrogate_crash").history.trace.sendings[-1].request
    )


class Forbids:
    """A policy: one tool is not run."""

    def begin_step(self) -> None:
        """Nothing to count."""

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Refuse to delete."""
        return Refuse("Deleting is not allowed.") if call.name == "delete" else Proceed()

    def after(self, call: ToolUse, result: ToolResult) -> Proceed:
        """Nothing to count."""
        return Proceed()


def _forbidding(*guards: Guard) -> Watch:
    return Watch((Forbids(), *guards))


@pytest.mark.seed(113)
def test_what_a_policy_refuses_counts_towards_a_limit() -> None:
    delete = ("delete", {"path": "a"}, "never")
    assert one_by_one(_forbidding(), [delete] * 5) == ["Refuse"] * 4 + ["EndTurn"]
    others = [("delete", {"path": n}, "never") for n in range(5)]
    assert one_by_one(_forbidding(), others) == ["Refuse"] * 4 + ["EndTurn"]
    between = [call for n in range(5) for call in (delete, ("look", {}, str(n)))]
    assert one_by_one(_forbidding(), between)[::2] == ["Refuse"] * 4 + ["EndTurn"]


@pytest.mark.seed(113)
def test_a_batch_of_refused_calls_is_one_thought() -> None:
    watch, batch = _forbidding(), [("delete", {"path": "a"}, "never")] * 9
    assert [set(words(watch, *batch)) for _ in range(5)] == [{"Refuse"}] * 4 + [{"EndTurn"}]


@pytest.mark.seed(113, kind="mutant")
def test_uncounted_refusals_go_on_and_on() -> None:
    caught("refusals_uncounted")


@pytest.mark.seed(114, kind="differs")
def test_a_loop_spread_over_turns_is_seen_by_nobody() -> None:
    """A turn begins with counters at zero, so that a stop never outlives it. The price: a call that
    is repeated twice in each of three turns is not a loop, to the guards and to the checks alike.
    Nothing reports it: a user who asks the same question three times looks the same."""
    done = passes("circles/spread-over-turns")
    assert done.history.past.tool_calls["read"] == 6
    assert len({execution.triple for execution in done.history.trace.executions}) == 1


@pytest.mark.seed(115, kind="mutant")
@pytest.mark.parametrize("name", ["no-such-tool", "arguments-that-are-no-object"])
def test_a_turn_of_calls_that_cannot_run_ends_with_an_answer(name: str) -> None:
    said = passes(f"repeated-errors/{name}").history.trace.sendings[-1].request
    assert (said.kind, said.status) == ("final", "failed")
    caught("no_last_word")


@pytest.mark.seed(115)
@pytest.mark.parametrize("given", [{"name": "luck"}, {"name": "look", "input": '{"at": '}])
def test_the_tail_of_the_store_is_an_assistant_row(given: Any, tmp_path: Path) -> None:
    stand = Stand(tmp_path, [*[use(**given)] * 5, text("I could not.")], "hello")
    stand.tool("look", "never")
    stand.run()
    assert stand.calls == []
    assert stand.rows()[-1].blocks == (Text("I could not."),)
    assert stand.sides.endswith("ua")
