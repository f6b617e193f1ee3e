"""Any transcript becomes a scenario file that loads, or is refused with a clear error."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import InputError
from harness.core.values.messages import Message, Opaque, Text, Thinking, ToolResult, ToolUse
from harness.core.values.plans import ApiError
from harness.files.scenario_file import SourceFile
from harness.files.scenario_text import scenario_text
from harness.files.yaml_text import parse
from harness.recordings.transcripts import Transcript
from tests.recordings.importing.stories import told

TEXTS = st.sampled_from(["", " ", "no", "12", "a\nb", "API Error: 529", "Error: x", "é\u2028\x07"])
IDS = st.sampled_from(["", "t1", "t2", "t3"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
PARTS = st.one_of(st.builds(Text, TEXTS), st.just(Opaque("image", {"type": "image"})))
BLOCKS = st.one_of(
    st.builds(Text, TEXTS),
    st.builds(Thinking, TEXTS, TEXTS, TEXTS),
    st.builds(ToolUse, IDS, st.sampled_from(["find", "f g", ""]), JSON),
    st.builds(ToolResult, IDS, TEXTS | st.lists(PARTS, max_size=2).map(tuple), st.booleans()),
    st.just(Opaque("image", {"type": "image"})),
)
ROLES = st.sampled_from(["user", "assistant", "assistant", "tool", "system"])
MESSAGES = st.lists(
    st.builds(Message, ROLES, st.lists(BLOCKS, max_size=3).map(tuple)), max_size=12
).map(tuple)
TRANSCRIPTS = st.builds(
    Transcript,
    name=st.just("s"),
    messages=MESSAGES,
    wire=st.sampled_from(["", "anthropic", "openai-chat", "gemini"]),
    exchange=st.booleans(),
    answered=st.booleans(),
    complete=st.booleans(),
    stream=st.booleans(),
    error=st.none() | st.builds(ApiError, st.sampled_from([0, 400, 529]), TEXTS, TEXTS),
)


def _scenario(transcript: Transcript, at: int | None) -> Scenario | None:
    try:
        document = told(transcript, at=at).document
    except InputError:
        return None
    (scenario,) = SourceFile(Path("it.yaml"), *parse(scenario_text(document))).scenarios()
    return scenario


@given(TRANSCRIPTS, st.none() | st.integers(1, 4))
def test_any_transcript(transcript: Transcript, at: int | None) -> None:
    scenario = _scenario(transcript, at)
    if scenario is not None:
        assert scenario.inbox
        assert isinstance(scenario.script, tuple)
        assert scenario.script


@given(TRANSCRIPTS)
def test_each_call_has_its_result_or_a_placeholder(transcript: Transcript) -> None:
    scenario = _scenario(transcript, None)
    if scenario is not None:
        answers = [t for tool in scenario.tools.values() for t in tool.script]
        report = told(transcript).fidelity
        assert sum(t.times for t in answers if isinstance(t.times, int)) == report.results
        assert report.missing <= report.results
