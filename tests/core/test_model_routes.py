"""Several providers in one run: who answers, what the history says of it, and whom a fault hits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from harness import providers
from harness.core.history.events import Called
from harness.core.history.history import History
from harness.core.scenario.scenario import Scenario, Turn
from harness.core.transition.ports import IssuedThinking
from harness.core.transition.transition import Transition
from harness.core.values.calls import Received
from harness.core.values.errors import InputError
from harness.core.values.plans import Plan
from harness.files.mistakes import mistakes_in
from harness.files.scenario_values import Fault
from harness.runner.prepare import transition_for
from tests.core import world

CHAT, MESSAGES, GEMINI = "/v1/chat/completions", "/v1/messages", "/v1beta/models/m:generateContent"
ANOTHER_HOST = "/model/claude/invoke"
HELLO = (Turn(say="hello", times="forever"),)


def _run(*faults: Any, wire: str = "anthropic", **fields: Any) -> Transition:
    return transition_for(Scenario(name="moves", wire=wire, script=HELLO, faults=faults, **fields))


def _ask(run: Transition, path: str, model: str = "m", at_ms: int = 0) -> int:
    body = {"model": model, "max_tokens": 9, "messages": world.USER}
    if path == GEMINI:
        body = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    if path == ANOTHER_HOST:
        body = {"anthropic_version": "bedrock-2023-05-31", **body}
        del body["model"]
    plan: Plan = run.model(Received(path, {}, msgspec.json.encode(body), at_ms))
    return world.said(plan)[0]


def _called(run: Transition) -> list[tuple[str, str]]:
    return [(e.provider, e.route) for e in run.history.events if isinstance(e, Called)]


def test_each_provider_answers_at_its_path_and_the_history_names_it() -> None:
    run = _run()
    assert [_ask(run, path) for path in (MESSAGES, CHAT, GEMINI, ANOTHER_HOST, CHAT)] == [200] * 5
    assert _called(run) == [
        ("anthropic", ""),
        ("openai-chat", ""),
        ("gemini", ""),
        ("anthropic", ANOTHER_HOST),
        ("openai-chat", ""),
    ]
    exchanges = run.history.trace.exchanges
    assert exchanges[1].request.after == ""
    assert exchanges[4].request.after == exchanges[1].called.key, "each API has its own list"


def test_another_provider_is_served_once_the_runs_own_has_been_asked() -> None:
    run = _run()
    assert not run.serves(CHAT)
    _ask(run, MESSAGES)
    assert run.serves(CHAT)
    assert not run.serves("/v1/embeddings")


def test_a_run_of_a_recording_has_one_provider() -> None:
    run = Transition(
        Scenario(name="one"), providers.by_name("anthropic"), world.run().script, History()
    )
    _ask(run, MESSAGES)
    assert not run.serves(CHAT)


def _hit(run: Transition, *asked: tuple[str, str, int]) -> list[int]:
    for path, model, at_s in asked:
        _ask(run, path, model, at_s * 1000)
    answers = world.answers(run)
    return [number for number, answer in enumerate(answers, start=1) if answer.faults]


ASKED = ((MESSAGES, "a-1", 0), (CHAT, "b-1", 10), (MESSAGES, "a-2", 20), (CHAT, "b-2", 700),
         (MESSAGES, "a-1", 800), (CHAT, "b-1", 900))  # fmt: skip


@pytest.mark.parametrize(
    ("knobs", "hit"),
    [
        ({}, [1, 2, 3, 4, 5, 6]),
        ({"provider": "openai-chat"}, [2, 4, 6]),
        ({"provider": "openai-chat", "when": 2}, [4, 6]),
        ({"provider": "own", "when": 2}, [3, 5]),
        ({"provider": "other"}, [2, 4, 6]),
        ({"models": "*-1"}, [1, 2, 5, 6]),
        ({"provider": "own", "models": "a-2"}, [3]),
        ({"provider": "own", "lasts_s": 600}, [1, 3]),
        ({"when": 2, "lasts_s": 600}, [2, 3]),
        ({"provider": "gemini", "must_fire": False}, []),
    ],
)
def test_a_fault_hits_and_counts_the_calls_of_its_provider(
    knobs: Mapping[str, Any], hit: list[int]
) -> None:
    run = _run(Fault("http.overloaded", often="forever", **knobs))
    assert _hit(run, *ASKED) == hit


def test_a_fault_speaks_the_words_of_the_provider_that_it_hits() -> None:
    run = _run(Fault("http.overloaded", often="forever"))
    assert [_ask(run, path) for path in (MESSAGES, CHAT)] == [529, 503]


def test_a_fault_of_one_provider_alone_leaves_the_others() -> None:
    run = _run(Fault("sse.usage_huge", often="forever", must_fire=False))
    assert _hit(run, *ASKED[:2]) == []
    only = next(k for k, f in _kinds().items() if f == ("anthropic",))
    run = _run(Fault(only, often="forever", must_fire=False))
    assert 2 not in _hit(run, *ASKED[:2]), only


def _kinds() -> dict[str, tuple[str, ...]]:
    from harness import faults

    return {kind: tuple(fault.wires) for kind, fault in faults.faults().items()}


@pytest.mark.parametrize(
    ("fault", "what"),
    [
        (lambda: Fault("http.overloaded", provider="openai"), "no provider is named 'openai'"),
        (lambda: Fault("tools.empty", provider="own"), "choose among the model's calls"),
    ],
)
def test_a_fault_of_no_provider_is_a_mistake(fault: Any, what: str) -> None:
    try:
        found = [
            str(mistake.what) for mistake in mistakes_in(Scenario(name="x", faults=(fault(),)))
        ]
    except InputError as error:
        found = [error.what]
    assert any(what in each for each in found), found


def test_what_another_provider_has_thought_is_not_issued_by_this_one() -> None:
    thinks = (
        Turn(blocks=({"type": "thinking", "text": "so", "signature": "s"},), times="forever"),
    )
    run = transition_for(Scenario(name="thinks", script=thinks))
    _ask(run, MESSAGES)
    assert list(IssuedThinking(run.history, (), "anthropic").texts("s")) == ["so"]
    assert list(IssuedThinking(run.history, (), "gemini").texts("s")) == []
