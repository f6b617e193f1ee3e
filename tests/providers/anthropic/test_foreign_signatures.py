"""Thinking with a foreign signature or none: refused in a run, unless the run sent it."""

from __future__ import annotations

from typing import Any

import anthropic
import msgspec
import pytest

from harness import faults
from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec, Scenario, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.ports import IssuedThinking
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from harness.core.values.messages import (
    Json,
    Message,
    Text,
    Thinking,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.core.values.messages import ToolResult as Result
from harness.core.values.plans import Reply
from harness.providers.anthropic.models import model
from harness.providers.anthropic.provider import AnthropicProvider
from harness.providers.anthropic.record import RECORD
from harness.providers.anthropic.request import AnthropicReader
from tests.providers.anthropic.bodies import A, blocks, body, wire
from tests.providers.anthropic.world import called, in_process, run

CALL = ToolUse("t", "f", {})
SEALED, HIDDEN = Thinking("Hm.", "EqQBCkYIBxgC"), Thinking(redacted="EmwKAhgBEgy3")
ASK: dict[str, Any] = {"model": "claude-sonnet-5", "max_tokens": 9}


def expecting(*stored: Message) -> AnthropicReader:
    """A reader of a run in which this was stored."""
    reader = AnthropicReader(RECORD.dialects.default, None)
    reader.expect(IssuedThinking(History(), stored))
    return reader


def loop(thought: Thinking) -> bytes:
    """A tool loop with that thought."""
    return body([user("go"), assistant(thought, CALL), results(Result("t", "ok"))])


def told(reader: AnthropicReader, asked: bytes) -> list[str]:
    """The rules that a request breaks."""
    return [violation.rule for violation in reader.read(asked).violations]


@pytest.mark.parametrize(("thought", "rule"), [(SEALED, "V16"), (HIDDEN, "V16a")])
def test_a_foreign_signature_is_refused_unless_it_was_stored(thought: Thinking, rule: str) -> None:
    assert told(expecting(), loop(thought)) == [rule]
    assert told(expecting(assistant(thought)), loop(thought)) == []
    assert told(AnthropicReader("lenient", None), loop(thought)) == []


def test_a_stored_signature_holds_for_its_text() -> None:
    other = msgspec.structs.replace(SEALED, text="Oh.")
    assert told(expecting(assistant(SEALED)), loop(other)) == ["V15"]


def test_an_empty_signature_is_refused_though_it_was_stored() -> None:
    bare = Thinking("Hm.")
    assert told(expecting(assistant(bare)), loop(bare)) == ["V16"]
    assert told(AnthropicReader(RECORD.dialects.default, None), loop(bare)) == ["V16"]


THOUGHT: dict[str, Json] = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
AT = "messages.1.content.0"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"type": "thinking", "thinking": "Hm."}, f"{AT}.thinking.signature: Field required"),
        ({"type": "thinking", "signature": "c2ln"}, f"{AT}.thinking.thinking: Field required"),
        ({"type": "redacted_thinking"}, f"{AT}.redacted_thinking.data: Field required"),
        (
            {**THOUGHT, "signature": None},
            f"{AT}.thinking.signature: Input should be a valid string",
        ),
        (
            {"type": "redacted_thinking", "data": ""},
            f"{AT}: Invalid `data` in `redacted_thinking` block",
        ),
    ],
)
def test_a_thought_without_its_fields_is_told_as_the_api_does(
    value: dict[str, Json], text: str
) -> None:
    said = blocks(value, {"type": "text", "text": "so"}, role=A)
    asked = wire(blocks({"type": "text", "text": "a"}), said, blocks({"type": "text", "text": "b"}))
    found = AnthropicReader(RECORD.dialects.default, None).read(asked).violations
    assert [violation.error.message for violation in found][:1] == [text]
    assert found[0].error.status == 400
    assert found[0].error.type == "invalid_request_error"


GIVEN = {
    "said shortly": (Turn(think="Hm.", say="a"), ()),
    "signed by the script": (
        Turn(blocks=({"type": "thinking", "text": "Hm.", "signature": "EqQB"},), say="a"),
        (),
    ),
    "redacted by the script": (
        Turn(blocks=({"type": "thinking", "redacted": "EmwK"},), say="a"),
        (),
    ),
    "added by a fault": (Turn(say="a"), (FaultSpec(kind="context.thinking_before"),)),
    "put in its place by a fault": (Turn(say="a"), (FaultSpec(kind="model.thinking_only"),)),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("how", GIVEN)
def test_what_the_model_thought_goes_back_through_the_sdk(how: str, stream: bool) -> None:
    turn, specs = GIVEN[how]
    armed = tuple(faults.arm(spec, wire="anthropic") for spec in specs)
    transition = run(turn, Turn(say="b"), faults=armed)
    with in_process(transition) as client:
        question = {"role": "user", "content": "x"}
        first = asked(client, [question], stream)
        again = [question, {"role": "assistant", "content": first.content}, question]
        assert any("thinking" in block.type for block in first.content)
        asked(client, again, stream)
        counted = client.messages.count_tokens(model="claude-sonnet-5", messages=again)
    assert counted.input_tokens > 0
    assert [call.refused for call in called(transition)][:2] == [(), ()]


class Told(TurnScript):
    """Answers that a provider gave."""

    recorded = True


@pytest.mark.parametrize("recorded", [False, True])
def test_recorded_answers_take_any_signature_and_a_script_its_own(recorded: bool) -> None:
    turns = (Turn(say="a"),)
    script = (Told if recorded else TurnScript)(turns, Draws(0))
    scenario = Scenario(name="wire", script=turns)
    transition = Transition(scenario, AnthropicProvider(), script, History())
    with in_process(transition) as client:
        sealed = {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"}
        question = {"role": "user", "content": "x"}
        messages = [question, {"role": "assistant", "content": [sealed]}, question]
        failed = []
        for ask in (
            lambda: asked(client, messages, False),
            lambda: client.messages.count_tokens(model="claude-sonnet-5", messages=messages),
        ):
            try:
                ask()
            except anthropic.BadRequestError as error:
                failed.append(error.message)
    assert len(failed) == (0 if recorded else 2)
    assert all("Invalid `signature` in `thinking` block" in text for text in failed)


def asked(client: Any, messages: list[Any], stream: bool) -> Any:
    """The answer to these messages."""
    if not stream:
        return client.messages.create(messages=messages, **ASK)
    with client.messages.stream(messages=messages, **ASK) as events:
        return events.get_final_message()


READS = [
    ("claude-fable-5-1", "claude-opus-5-5", True),
    ("claude-fable-5-1", "claude-opus-5", True),
    ("claude-mythos-5-1", "claude-fable-5-1", True),
    ("claude-opus-5", "claude-fable-5-1", False),
    ("claude-opus-5-5", "claude-fable-5-1", False),
    ("claude-opus-5-5", "claude-fable-5", False),
    ("claude-opus-5-5", "claude-opus-5", True),
    ("claude-opus-5-5", "claude-haiku-4-5", True),
    ("claude-opus-5-5", "claude-sonnet-5", True),
    ("claude-sonnet-5-5", "claude-haiku-4-5", True),
    ("claude-sonnet-5-5", "claude-opus-5", False),
    ("claude-haiku-4-5", "claude-sonnet-5-5", False),
    ("claude-haiku-4-5", "claude-opus-5", True),
    ("another", "claude-opus-5-5", True),
]


@pytest.mark.parametrize(("one", "other", "reads"), READS)
def test_a_model_reads_what_the_documentation_says(one: str, other: str, reads: bool) -> None:
    assert model(one).reads(model(other)) is reads


@pytest.mark.parametrize(("one", "other", "reads"), READS)
def test_a_claude_that_is_switched_for_another_is_never_refused(
    one: str, other: str, reads: bool
) -> None:
    binding: dict[str, Json] = {"type": "adaptive", "block_binding": {}}
    first = AnthropicReader(RECORD.dialects.default, None)
    reading = first.read(body([user("go")], model=other))
    said = reading.complete(Reply((Thinking("Hm."), Text("so"))))
    messages = [user("go"), assistant(*said.blocks), user("on")]
    for reader in (first, AnthropicReader(RECORD.dialects.default, None)):
        switched = reader.read(body(messages, model=one, thinking=binding))
        assert [v.rule for v in switched.violations if v.rule in ("V15", "V16", "V17")] == []
        dropped = [change["reason"] for change in switched.transformations()]
        assert dropped == ([] if reads else ["model_binding_mismatch"])


def test_a_claude_refuses_what_a_model_of_another_maker_signed() -> None:
    """That one may be served at the same address, as by a gateway."""
    reader = AnthropicReader(RECORD.dialects.default, None)
    first = reader.read(body([user("go")], model="MiniMax-M2"))
    said = first.complete(Reply((Thinking("Hm."), Text("so"))))
    messages = [user("go"), assistant(*said.blocks), user("on")]
    assert told(reader, body(messages, model="MiniMax-M2")) == []
    assert told(reader, body(messages, model="claude-opus-5")) == ["V16"]
    bare = [user("go"), assistant("so"), user("on")]
    assert told(reader, body(bare, model="claude-opus-5")) == []
