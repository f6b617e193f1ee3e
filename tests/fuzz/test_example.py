"""Examples: the same choices are the same run, and what counts as a finding of the agent.

Drawn orders: none for the simplest answers, few changes, and each behind the one before.
"""

from __future__ import annotations

import queue
from random import Random
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent import agent, build
from harness.agent.turn_policy import Policy
from harness.checks.judge import judge
from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec, InboxItem, Limits, Scenario, Turn
from harness.core.values.brief import Brief
from harness.core.values.orders import Order
from harness.core.values.profile import Capabilities, Profile
from harness.fuzz.batch import NOT_SEPARATE, Batch, _drawn, play_all
from harness.fuzz.choice_sequence import ChoiceSequence
from harness.fuzz.example import (
    CHANGES_MOST,
    OWED,
    UNASKED,
    causes_of,
    draw,
    genuine,
    options_of,
    orders_of,
    play,
    run_of,
)
from harness.runner import Run, run
from harness.runner.needs import absent
from harness.targets import of_callable
from harness.targets.spec import resolve

REFERENCE = of_callable(agent)
GREETING = (InboxItem(text="Hello"),)


@pytest.mark.parametrize("seed", range(5))
def test_an_example_is_played_alike_from_its_choices(seed: int) -> None:
    options = options_of(REFERENCE)
    scenario, choices = draw((), Random(seed), options)
    again, same = draw(choices, Random(99), options)
    assert (again, same) == (scenario, choices)
    assert play(again, choices, REFERENCE, 1) == play(scenario, choices, REFERENCE, 1)


LACKS = Profile(
    wires=("openai-chat",),
    capabilities=Capabilities(
        session=False, store=False, cancel=False, streaming=False, outbox=False, restarts=False
    ),
    fail_on="defect",
)


def test_what_a_profile_declares_absent_is_not_drawn() -> None:
    options = options_of(REFERENCE, "openai-chat", LACKS)
    drawn = [draw((), Random(seed), options, "defect", LACKS)[0] for seed in range(60)]
    assert all(scenario.profile == LACKS for scenario in drawn)
    assert [reason for scenario in drawn for reason in absent(scenario)] == []
    assert any(scenario.faults for scenario in drawn)
    wide = [draw((), Random(seed), options_of(REFERENCE))[0] for seed in range(60)]
    lacking = [msgspec.structs.replace(s, profile=LACKS, wire="openai-chat") for s in wide]
    assert sum(bool(absent(scenario)) for scenario in lacking) > 20


def test_an_example_is_judged_under_its_profile() -> None:
    scenario = Scenario(name="plain", inbox=GREETING, script=(Turn(say="a"),), wire="openai-chat")
    scenario = msgspec.structs.replace(scenario, profile=LACKS)
    assert run_of(scenario, REFERENCE).history.trace.profile.fail_on == "defect"


def _codes(played: Run) -> set[str]:
    return {finding.code for finding in genuine(played)}


def test_a_cause_is_counted_and_what_follows_from_it_is_not() -> None:
    def crashes(brief: Brief) -> None:
        next(brief.inbox())
        raise OSError("no disk")

    two = (*GREETING, InboxItem(text="Are you there?"))
    scenario = Scenario(name="two", inbox=two, script=(Turn(say="a", times="forever"),))
    played = run_of(scenario, of_callable(crashes))
    assert "run.undelivered" in _codes(played)
    assert [finding.code for finding in causes_of(played)] == ["target.crashed"]


@pytest.mark.parametrize("target", ["reference", "process:true"])
def test_a_campaign_meets_more_kinds_of_faults_than_chance_alone(target: str) -> None:
    """So it is with a target that cannot meet all of them, and each example is its choices."""
    spec = resolve(target)
    batch = Batch(number=0, first=1, count=1, seed=5, target=target)
    drawn = [_drawn(batch, n, Random(n), spec) for n in range(400)]
    free = [batch.drawn((), Random(n), spec)[0] for n in range(400)]
    assert all(batch.drawn(choices, Random(0), spec)[0] == one for one, choices in drawn)
    assert len(_kinds([one for one, _ in drawn])) > len(_kinds(free)) * 1.05


def _kinds(scenarios: list[Scenario]) -> set[str]:
    return {fault.kind for scenario in scenarios for fault in scenario.faults}


def test_what_a_generated_scenario_is_owed_is_no_finding() -> None:
    silent = FaultSpec(kind="http.status", when=9)
    waits = InboxItem(text="Are you there?", when={"after": "tool#1"})
    owing = Scenario(
        name="owing",
        inbox=(*GREETING, waits),
        script=(Turn(say="a"), Turn(say="b")),
        faults=(silent,),
    )
    played = run(owing, agent)
    assert {f.code for f in played.verdict.findings} == OWED - {"script.exhausted"}
    assert not _codes(played)


def _deaf(brief: object) -> None:
    """An agent that takes no message and calls no model."""


def test_an_agent_that_never_asks_is_found_unless_a_fault_has_left_nothing_to_ask() -> None:
    plain = Scenario(name="plain", inbox=GREETING, script=(Turn(say="a", optional=True),))
    assert UNASKED in _codes(run_of(plain, of_callable(_deaf)))
    nothing = FaultSpec(kind="gateway.attachment_only", on="inbox", often="forever")
    emptied = Scenario(name="emptied", inbox=GREETING, script=plain.script, faults=(nothing,))
    played = run_of(emptied, REFERENCE)
    assert UNASKED in {f.code for f in played.verdict.findings}
    assert not _codes(played)


def test_an_agent_that_a_kill_has_left_no_message_need_not_ask() -> None:
    history = History()
    history.started(run="r", scenario="r", seams=("model",))
    history.killed(at_ms=0, at="files#1:undone")
    history.ended(at_ms=0, how="returned", exit_code=0)
    played: Any = SimpleNamespace(history=history, verdict=judge(history))
    assert UNASKED in {finding.code for finding in played.verdict.findings}
    assert UNASKED not in _codes(played)


def _stuck(brief: Brief) -> None:
    """An agent that never waits after its first message."""
    for _ in brief.inbox():
        queue.SimpleQueue[None]().get()


def test_an_agent_that_hangs_is_found_and_what_follows_from_it_is_not() -> None:
    scenario = Scenario(name="hangs", inbox=GREETING, limits=Limits(real_s=0.2))
    played = run_of(scenario, of_callable(_stuck))
    assert len({f.code for f in played.verdict.findings}) > 1
    assert _codes(played) == {"target.hung"}


def _insatiable(brief: Brief) -> None:
    """The reference agent without its guards and its bounds."""
    build(brief, guards=lambda tools: (), policy=Policy(max_model_calls=10_000)).run()


def test_the_hops_that_a_client_follows_by_itself_break_no_limit_of_the_agent() -> None:
    hops = FaultSpec(kind="transport.redirect", often="forever", must_fire=False)
    limits = Limits(turn_calls=10)
    plain = Scenario(name="hops", inbox=GREETING, script=(Turn(say="a", optional=True),))
    played = run_of(msgspec.structs.replace(plain, faults=(hops,), limits=limits), REFERENCE)
    assert "limit.turn_calls" in {f.code for f in played.verdict.findings}
    assert "limit.turn_calls" not in _codes(played)


@pytest.mark.real
def test_an_agent_that_asks_for_ever_is_found_at_a_limit() -> None:
    target = of_callable(_insatiable, options={"client": "plain"})
    limits = Limits(model_calls=60, tool_calls=60)
    options = msgspec.structs.replace(options_of(target), limits=limits)
    found: set[str] = set()
    for seed in range(60):
        scenario, _ = draw((), Random(seed), options)
        found |= _codes(run_of(scenario, target))
    assert {"limit.model_calls", "bounded_turn.requests"} <= found


def test_what_an_agent_prints_is_lost(capfd: pytest.CaptureFixture[str]) -> None:
    def talking(brief: object) -> None:
        print("a great deal")

    run_of(Scenario(name="plain", inbox=GREETING), of_callable(talking))
    assert capfd.readouterr() == ("", "")


def test_a_server_gets_no_scenario_that_would_end_it() -> None:
    assert options_of(REFERENCE).kills
    assert not options_of(resolve("http://127.0.0.1:9/run")).kills


_KEPT: list[dict[str, object]] = []


def _remembers(brief: Brief) -> None:
    """Keep one conversation for the process, as a module's list does."""
    client = brief.anthropic()
    for message in brief.inbox():
        _KEPT.append({"role": "user", "content": message.text or "?"})
        reply = client.messages.create(model="m", max_tokens=99, messages=_KEPT)
        _KEPT.append({"role": "assistant", "content": reply.content or "?"})
        brief.send("".join(getattr(b, "text", "") for b in reply.content), in_reply_to=message.id)


def test_an_example_that_meets_what_others_said_is_told() -> None:
    task = Batch(target="reference", number=0, first=1, count=16, seed=5)
    assert NOT_SEPARATE not in play_all(task, resolve("reference")).doubts
    _KEPT.clear()
    assert NOT_SEPARATE in play_all(task, of_callable(_remembers)).doubts


def of(*numbers: int) -> tuple[Order, ...]:
    """The order of these answers, and then the simplest ones."""
    return orders_of(ChoiceSequence((*numbers, *[0] * 20), Random(0)))


@pytest.mark.parametrize(
    ("numbers", "orders"),
    [
        ((), ()),
        ((1,), (Order(at=1, first=2),)),
        ((1, 5, 31, 1), (Order(at=32, first=3),)),
        ((1, 0, 0, 0, 2), (Order(at=1, first=2), Order(at=2, first=2))),
    ],
)
def test_an_order_of_these_answers(numbers: tuple[int, ...], orders: tuple[Order, ...]) -> None:
    assert of(*numbers) == orders


@given(st.lists(st.integers(0, 1 << 16), max_size=30))
def test_changes_are_few_and_come_one_behind_the_other(numbers: list[int]) -> None:
    points = [order.at for order in of(*numbers)]
    assert len(points) <= CHANGES_MOST
    assert points == sorted(set(points))


def test_an_example_has_an_order_only_where_one_is_asked() -> None:
    """The order is drawn last, so an example without one stays as it is."""
    options = options_of(REFERENCE)
    plain, choices = draw((), Random(3), options)
    ordered, more = draw(choices, Random(3), options, orders=True)
    assert plain.orders is None
    assert ordered.orders is not None
    assert more[: len(choices)] == choices
