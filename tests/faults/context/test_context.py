"""Every context fault against the real SDK: it fires, and the client gets this."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import pytest

from harness.clock import VirtualClock
from harness.core.history.history import History
from harness.core.history.past import Past
from harness.core.scenario.scenario import FaultSpec, Scenario, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.calls import Call, ModelRequest
from harness.core.values.draws import Draws
from harness.core.values.plans import Answer, ApiError, Reply
from harness.faults import arm, faults
from harness.providers import by_name
from harness.transports.dispatcher import Dispatcher
from harness.transports.in_process import InProcessBrief

CONTEXT = [kind for kind in faults() if kind.startswith("context.")]
ASKED: list[dict[str, Any]] = [{"role": "user", "content": "Where shall we go? " * 10}]
RESULTS: list[dict[str, Any]] = [
    *ASKED,
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "x", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]},
]
PAUSED: list[dict[str, Any]] = [*ASKED, {"role": "assistant", "content": "One moment."}]
TOO_LONG = "prompt is too long: 208380 tokens > 200000 maximum"


class Asked:
    """One request with the SDK: what came back or was raised, how long it took."""

    def __init__(
        self,
        kind: str,
        *,
        purpose: str = "main",
        stream: bool = False,
        messages: list[dict[str, Any]] = ASKED,
        first: str = "",
        on: str = "",
        **settings: Any,
    ) -> None:
        spec = FaultSpec(kind=kind, settings=settings, on=on, when=1)
        turns = tuple(Turn(say="Four days in Oslo.", purpose=p) for p in ("main", "compact", "aux"))
        scenario = Scenario(name="asked", script=turns, faults=(spec,))
        script = TurnScript(turns, Draws(0))
        self.clock = VirtualClock()
        armed = arm(spec, refusals=by_name("anthropic").refusals())
        self.run = Transition(scenario, by_name("anthropic"), script, History(), faults=[armed])
        brief = InProcessBrief(Dispatcher(self.run, self.clock), Path("/nowhere"))
        self.client = brief.anthropic(max_retries=0, timeout=60.0)
        self.error: Exception | None = None
        if first:
            self.ask(first, False, ASKED)
        try:
            self.reply = self.ask(purpose, stream, messages)
        except Exception as error:
            self.error = error

    def ask(self, purpose: str, stream: bool, messages: list[dict[str, Any]]) -> Any:
        """Ask once for a purpose."""
        request = {
            "model": "m",
            "max_tokens": 64,
            "messages": messages,
            "extra_headers": {"x-harness-purpose": purpose},
        }
        if not stream:
            return self.client.messages.create(**request)
        with self.client.messages.stream(**request) as events:
            return events.get_final_message()

    @property
    def fired(self) -> list[str]:
        """The faults that struck."""
        return [kind for event in self.run.history.events for kind in getattr(event, "faults", ())]

    @property
    def said(self) -> tuple[Any, ...]:
        """The stop reason and the blocks of the answer, in short."""
        return (self.reply.stop_reason, *map(_short, self.reply.content))


def _short(block: Any) -> str:
    names = {"text": "text", "thinking": "thinking", "tool_use": "name"}
    return f"{block.type}: {getattr(block, names[block.type])}"


REFUSED: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "context.prompt_too_long": ({}, anthropic.BadRequestError, TOO_LONG),
    "context.reply_does_not_fit": (
        {},
        anthropic.BadRequestError,
        "`max_tokens` exceed context limit: 196758 + 8192 > 200000",
    ),
    "context.request_too_large": ({}, anthropic.RequestTooLargeError, "exceeds the maximum size"),
    "context.window_shrinks": (
        {"window_tokens": 20},
        anthropic.BadRequestError,
        "tokens > 20 maximum",
    ),
    "context.too_long_after_compaction": (
        {"first": "compact", "tokens": 208_380},
        anthropic.BadRequestError,
        TOO_LONG,
    ),
    "context.too_long_after_tools": ({"messages": RESULTS}, anthropic.BadRequestError, TOO_LONG),
    "context.too_long_while_open": ({"messages": PAUSED}, anthropic.BadRequestError, TOO_LONG),
    "context.too_long_in_the_stream": ({"stream": True}, anthropic.APIStatusError, TOO_LONG),
    "context.compaction_overloaded": (
        {"purpose": "compact"},
        anthropic.InternalServerError,
        "Overloaded",
    ),
    "context.compaction_too_long": ({"purpose": "compact"}, anthropic.BadRequestError, TOO_LONG),
    "context.compaction_hangs": ({"purpose": "compact"}, anthropic.APITimeoutError, "timed out"),
}

SAID: dict[str, tuple[dict[str, Any], tuple[Any, ...]]] = {
    "context.window_exceeded": ({}, ("model_context_window_exceeded", "text: Four days")),
    "context.result_message": ({}, ("stop_sequence", "text: Prompt is too long")),
    "context.thinking_before": (
        {},
        ("end_turn", "thinking: Let me see.", "text: Four days in Oslo."),
    ),
    "context.compaction_refused": ({"purpose": "compact"}, ("refusal",)),
    "context.summary_cut_off": ({"purpose": "compact"}, ("max_tokens", "text: Four days")),
    "context.summary_empty": ({"purpose": "compact"}, ("end_turn",)),
    "context.summary_blank": ({"purpose": "compact"}, ("end_turn", "text:  \n\n ")),
    "context.summary_only_thought": (
        {"purpose": "compact"},
        ("end_turn", "thinking: Four days in Oslo."),
    ),
    "context.summary_repeats": (
        {"purpose": "compact"},
        ("end_turn", f"text: {ASKED[0]['content']}"),
    ),
    "context.summary_forgets": ({"purpose": "compact", "text": "So."}, ("end_turn", "text: So.")),
    "context.summary_calls_a_tool": ({"purpose": "compact"}, ("tool_use", "tool_use: summarise")),
}


def test_every_fault_of_the_layer_is_asked() -> None:
    assert {*REFUSED, *SAID, "context.summary_larger"} == set(CONTEXT)


@pytest.mark.parametrize("kind", REFUSED)
def test_what_the_client_raises(kind: str) -> None:
    settings, error, text = REFUSED[kind]
    asked = Asked(kind, **settings)
    assert isinstance(asked.error, error), asked.error
    assert text in str(asked.error)
    assert asked.fired == [kind]


@pytest.mark.parametrize("kind", SAID)
def test_what_the_client_is_told(kind: str) -> None:
    settings, said = SAID[kind]
    asked = Asked(kind, **settings)
    assert asked.error is None
    assert asked.said == said
    assert asked.fired == [kind]


def test_a_wrappers_own_words_cost_nothing() -> None:
    usage = Asked("context.result_message").reply.usage
    assert (usage.input_tokens, usage.output_tokens) == (0, 0)


def test_a_summary_may_be_longer_than_what_it_summarises() -> None:
    asked = Asked("context.summary_larger", purpose="compact", factor=3)
    assert len(asked.reply.content[0].text) >= 3 * len(ASKED[0]["content"])
    assert asked.fired == ["context.summary_larger"]


def test_a_request_for_a_summary_hangs_until_the_client_gives_up() -> None:
    asked = Asked("context.compaction_hangs", purpose="compact")
    assert asked.clock.now_ms() == 60_000
    cut = Asked("context.compaction_hangs", purpose="compact", wait_s=5.0)
    assert isinstance(cut.error, anthropic.APIConnectionError)
    assert cut.clock.now_ms() == 5_000


@pytest.mark.parametrize(
    ("kind", "purpose", "on"),
    [
        ("context.prompt_too_long", "aux", "aux"),
        ("context.prompt_too_long", "compact", "compact"),
        ("context.summary_blank", "aux", "aux"),
    ],
)
def test_a_fault_may_strike_another_purpose(kind: str, purpose: str, on: str) -> None:
    assert Asked(kind, purpose=purpose, on=on).fired == [kind]


@pytest.mark.parametrize(
    "ask",
    [
        lambda: Asked("context.prompt_too_long", purpose="aux"),
        lambda: Asked("context.summary_blank"),
        lambda: Asked("context.window_shrinks", window_tokens=100_000),
        lambda: Asked("context.too_long_after_tools"),
        lambda: Asked("context.too_long_while_open"),
        lambda: Asked("context.too_long_after_compaction"),
        lambda: Asked("context.too_long_in_the_stream"),
    ],
)
def test_elsewhere_it_is_the_identity(ask: Callable[[], Asked]) -> None:
    asked = ask()
    assert asked.said == ("end_turn", "text: Four days in Oslo.")
    assert asked.fired == []


@pytest.mark.parametrize(
    ("wire", "words"),
    [
        ("anthropic", "prompt is too long: 208380 tokens > 200000 maximum"),
        ("openai-chat", "maximum context length is 200000 tokens"),
        ("openai-responses", ""),
    ],
)
def test_a_wire_says_it_in_its_own_words(wire: str, words: str) -> None:
    refusals = by_name(wire).refusals()
    armed = arm(FaultSpec(kind="context.prompt_too_long"), wire=wire, refusals=refusals)
    past = Past()
    past.purpose_calls["main"] = 1
    asked = Call("main/model#1", "model", 1, "main", 1, 0, ModelRequest("m", ()))
    (step,) = armed.bend(asked, past, Draws(0), (Answer(Reply()),))
    assert isinstance(step, Answer)
    assert isinstance(step.value, ApiError)
    assert step.value.status == 400
    assert words in step.value.message
    assert "{" not in step.value.message
