"""The reference agent survives every fault of the layer, once and always."""

from __future__ import annotations

from typing import Any

import pytest

from harness.agent import agent
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    SeedMessage,
    Session,
    Turn,
)
from harness.faults import faults
from harness.providers import by_name
from harness.runner import run
from tests.faults.surviving import survive, tiers_of

KINDS = [kind for kind in faults() if kind.startswith("http.")]
OF_REQUESTS = {
    "http.compaction_refused",
    "http.picture_refused",
    "http.prefill_refused",
    "http.previous_response_not_found",
    "http.system_role_refused",
    "http.thinking_type_refused",
    "http.tightened_whitespace",
    "http.thread_already_continued",
    "http.thread_continue_in_flight",
    "http.thread_fingerprint_mismatch",
    "http.thread_not_found",
    "http.thread_unsupported_request",
}
"""They strike on requests that the reference agent does not make: it begins no answer for the
model, sends no blank text, meets no picture here, and keeps its whole history itself."""

ALL_OF_A_BURST = {"http.overloaded_burst": {"failures": 5}}
KNOBS: list[dict[str, Any]] = [{}, {"often": "forever"}, {"then": "escalate"}]


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("knobs", tiers_of(KNOBS))
@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_agent_lives_through_it(
    kind: str, knobs: dict[str, Any], stream: bool
) -> None:
    settings, wires = ALL_OF_A_BURST.get(kind, {}), faults()[kind].wires
    fields = {"wire": wires[0]} if wires else {}
    found = survive(kind, stream=stream, fields=fields, settings=settings, **knobs)
    if (
        kind == "http.tools_refused" and knobs
    ):  # one model, so each turn can only say that it failed
        assert all(each.startswith("no_blind_resend.same_content") for each in found)
        return
    assert found == (["silent"] if kind in OF_REQUESTS else [])


@pytest.mark.parametrize("rule", by_name("anthropic").refusals())
def test_a_refusal_by_any_rule_ends_the_turn_in_words(rule: str) -> None:
    assert survive("http.invalid_request", settings={"rule": rule}, often="forever") == []


def test_a_burst_is_waited_out() -> None:
    settings = {"failures": 2, "among": 5}
    found = survive("http.overloaded_burst", when=1, often="forever", settings=settings)
    assert found == []


@pytest.mark.parametrize("often", ["once", "forever"])
@pytest.mark.parametrize("value", [0, -5, 1.5, "nan", "soon", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_a_retry_after_that_says_little_is_no_trouble(value: Any, often: Any) -> None:
    found = survive("http.retry_after", settings={"retry_after": value}, often=often)
    assert found == []


@pytest.mark.parametrize("often", ["once", "forever"])
def test_a_compaction_that_is_too_long_itself_is_given_up_in_words(often: Any) -> None:
    words = "Which of the four days is the one with the boat to the islands? " * 20
    past = [SeedMessage(role=role, content=words) for role in ("user", "assistant")] * 3  # type: ignore[arg-type]
    too_long = FaultSpec(kind="http.prompt_too_long", on="main")
    refused = FaultSpec(kind="http.compaction_refused", on="compact", often=often)
    scenario = Scenario(
        name="refused-twice",
        session=Session(messages=tuple(past)),
        inbox=(InboxItem(id="m1", text="And the other days?"),),
        script=(
            Turn(say="Ships.", times="forever"),
            Turn(say="Days.", purpose="compact", optional=True),
        ),
        faults=(too_long, refused),
    )
    done = run(scenario, agent)
    assert [f"{f.code}: {f.message}" for f in done.verdict.findings] == []
    fired = {name for event in done.history.events for name in getattr(event, "faults", ())}
    assert fired == {"http.prompt_too_long", "http.compaction_refused"}


@pytest.mark.parametrize("stored", [" ", "\n\t"])
def test_blank_texts_of_an_old_session_are_healed_before_they_are_sent(stored: str) -> None:
    blank = SeedMessage(role="assistant", content=({"type": "text", "text": stored},))
    scenario = Scenario(
        name="tightened",
        session=Session(messages=(SeedMessage(role="user", content="hello"), blank)),
        inbox=(InboxItem(id="m1", text="and now?"),),
        script=(Turn(say="Now this."),),
        faults=(FaultSpec(kind="http.tightened_whitespace", often="forever", must_fire=False),),
    )
    done = run(scenario, agent)
    assert [f"{f.code}: {f.message}" for f in done.verdict.findings] == []
    assert not any(getattr(event, "faults", ()) for event in done.history.events)


ON_ALL_SEAMS = [
    fault.kind.removeprefix("http.")
    for fault in faults().values()
    if fault.layer == "http" and "tool" in fault.seams
]


@pytest.mark.parametrize("often", ["once", "forever"])
@pytest.mark.parametrize("name", ON_ALL_SEAMS)
def test_a_tool_that_answers_so_is_lived_through(name: str, often: Any) -> None:
    settings = ALL_OF_A_BURST.get(f"http.{name}", {})
    found = survive(f"http.{name}", on="tool", when=1, often=often, settings=settings)
    assert found == []


@pytest.mark.parametrize("name", ON_ALL_SEAMS)
def test_an_outbox_that_answers_so_once_is_tried_again(name: str) -> None:
    settings = ALL_OF_A_BURST.get(f"http.{name}", {})
    assert survive(f"http.{name}", on="outbox", when=1, settings=settings) == []


def test_an_outbox_that_is_never_open_is_the_one_thing_that_cannot_be_mended() -> None:
    found = survive("http.overloaded", on="outbox", when=1, often="forever")
    assert found == [
        f"outbound_once.missing: turn {turn} of main ends without a reply, after main/{last} failed"
        for turn, last in ((1, "outbox#4"), (2, "outbox#8"))
    ]
