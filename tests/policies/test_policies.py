"""Agents of other policies, each within what `docs/checks.md` allows, pass the catalogue too.

The number of retries is not a defect. An agent may also stop asking, or end without a last answer
of the model, as long as it tells its user the truth. `make policies` plays the rest.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, example, find, given, settings
from hypothesis import strategies as st

from harness.agent import agent
from harness.agent.context_overflow import SAVING, SUMMARY_TIMEOUT_S
from harness.agent.conversation.history_size import REBUILD_TOKENS
from harness.agent.guards.repeat_guard import PERIOD_MAX
from harness.agent.models import timeouts
from harness.agent.outgoing import DELIVERY_WAITS_S
from harness.agent.sessions.transcript import STORE_WAITS_S
from harness.agent.toolbox import TOOL_TIMEOUT_S
from harness.agent.turn_policy import Policy
from harness.checks.judge import checks, settings_of
from harness.core.history.history import canonical
from harness.core.values.errors import InputError
from harness.runner import run
from tests.policies.constants import Constants, constants, policies, ranges
from tests.policies.log import drawn_agent, findings_of, share_of
from tests.policies.variant_agent import play
from tests.scenarios.all_runs import named

QUICK = [
    *("empty-end-of-turn", "stuck-for-good+stream", "reconnecting-five-of-five+stream"),
    *("overloaded/for-a-moment", "nothing-said-once", "circles/next-turn-is-fresh"),
    *("fewer-results-than-calls/stopped-after-the-first", "overflow-in-a-tool-loop"),
]

DRAWN = (0, 4, 7, 17)
"""Agents whose tools run in parallel; that send results as text; that end by a tool, drop failed
turns and say no last word; that do the first two."""


@settings(
    max_examples=16,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(drawn=policies(), name=st.sampled_from(QUICK))
@example(constants(empty_answers=2), "nothing-said-once")
@example(constants(empty_answers=0), "empty-end-of-turn")
@example(constants(attempts=2, broken_streams=2), "reconnecting-five-of-five+stream")
@example(constants(attempts=2), "stuck-for-good+stream")
@example(constants(attempts=6), "stuck-for-good+stream")
@example(constants(last_word="none"), "circles/next-turn-is-fresh")
@example(constants(tools="parallel"), "fewer-results-than-calls/stopped-after-the-first")
@example(constants(end="tool"), "overflow-in-a-tool-loop")
@example(constants(results="text"), "overflow-in-a-tool-loop")
@example(constants(failed_turn="dropped"), "overloaded/for-a-moment")
@example(constants(results="text"), "same-query-for-ever")
@example(constants(results="text"), "warned-seventeen-times/failed-again-and-again")
@example(constants(results="text"), "did-you-restart")
@example(constants(results="text"), "tool-never-returns/an-hour")
@example(constants(results="text"), "empty-memory-asked-again/null")
@example(constants(tools="parallel"), "stop-while-a-tool-hangs/the-second-of-two")
@example(constants(tools="parallel"), "crash-in-the-middle-of-the-work@openai-chat")
@example(constants(end="tool"), "answer-found-and-repeated")
@example(constants(failed_turn="dropped"), "killed-again")
@example(constants(timeout_s=60), "copies-under-load")
@example(constants(end="tool"), "did-you-restart")
@example(constants(store_tries=2), "longer-than-the-busy-timeout")
@example(constants(store_tries=2), "no-room-for-a-row/message-not-taken")
@example(constants(shrinks="rebuild rebuild"), "overflow-in-a-tool-loop/fills-up-slowly")
@example(constants(inbound="interrupt"), "killed-again")
@example(constants(inbound="steer", tools="parallel"), "message-in-mid-turn")
@example(constants(inbound="steer"), "line-separator-in-a-long-session")
@example(constants(inbound="interrupt"), "line-separator-in-a-long-session@openai-responses")
@example(constants(failed_turn="dropped"), "second-provider-in-mid-turn@openai-chat")
@example(constants(inbound="collect", results="text"), "message-before-a-stop")
def test_an_agent_of_a_drawn_policy_passes(drawn: Constants, name: str) -> None:
    assert findings_of(named(name), drawn) == ()


@pytest.mark.real
@pytest.mark.parametrize("number", DRAWN)
def test_a_drawn_agent_passes_a_drawn_share_of_the_catalogue(number: int) -> None:
    drawn = drawn_agent(number)
    guilty = {each.run_name: findings_of(each, drawn) for each in share_of(number, share=30)}
    assert {name: found for name, found in guilty.items() if found} == {}, drawn


def test_the_shipped_constants_are_those_of_the_reference_agent() -> None:
    policy = Policy()
    shipped: dict[str, Any] = {
        "broken_streams": policy.retries["broken_stream"],
        "empty_answers": policy.max_empty_answers,
        "pauses": policy.max_pauses,
        "failures": policy.max_failures,
        "model_calls": policy.max_model_calls,
        "tokens": policy.max_tokens,
        "turn_s": policy.max_turn_s,
        "woken_tokens": policy.max_woken_tokens,
        "begins": policy.max_attempts,
        "depth": policy.max_depth,
        "tasks": policy.max_tasks,
        "circle": PERIOD_MAX,
        "timeout_s": timeouts.SILENCE_MAX_S,
        "retry_after_s": timeouts.RETRY_AFTER_MAX_S,
        "tool_s": TOOL_TIMEOUT_S,
        "store_tries": len(STORE_WAITS_S) + 1,
        "delivery_tries": len(DELIVERY_WAITS_S) + 1,
        "saving": SAVING,
        "summary_s": SUMMARY_TIMEOUT_S,
        "rebuild_tokens": REBUILD_TOKENS[0],
    }
    assert {name: ranges()[name].shipped for name in shipped} == shipped


@pytest.mark.parametrize("name", QUICK)
def test_the_shipped_constants_give_the_reference_agent(name: str) -> None:
    there, here = play(named(name), constants()), run(named(name), agent)
    _, _, events = canonical(there.history).partition(b"\n")
    assert events == canonical(here.history).partition(b"\n")[2]


def test_each_setting_that_bounds_a_range_is_one_of_a_check() -> None:
    for each in ranges().values():
        if each.setting:
            check, _, setting = each.setting.partition(".")
            assert setting in settings_of(checks()[check]), each


def test_a_policy_is_printed_as_a_line_to_paste() -> None:
    drawn = drawn_agent(1)
    assert eval(repr(drawn)).changed == drawn.changed
    assert repr(constants(end="tool", attempts=2)) == "constants(end='tool', attempts=2)"


def test_what_no_range_holds_is_an_error() -> None:
    with pytest.raises(InputError, match="attempts"):
        constants(attemps=2)
    with pytest.raises(InputError, match="out of its range"):
        constants(attempts=7)


def test_a_policy_shrinks_to_the_constants_that_matter() -> None:
    least = find(policies(), lambda drawn: bool(drawn.attempts > 3))
    assert least.changed == {"attempts": 4}


def test_an_agent_beyond_the_ranges_is_found() -> None:
    name, beyond = (
        "overflow-shapes/overloaded-for-ever-after-compaction",
        Constants({"attempts": 12}),
    )
    codes = [code for code, _ in findings_of(named(name), beyond)]
    assert "retry_budget.request" in codes
