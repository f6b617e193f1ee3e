"""Session logs: what the API received, with the lines in any order."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.checks.request_form import role_alternation
from harness.core.values.errors import InputError
from harness.core.values.messages import Message, Opaque, Text, Thinking, ToolResult, ToolUse
from harness.recordings.recognition import format_named
from harness.recordings.transcript_counts import counts
from harness.recordings.transcript_history import to_history

CLAUDE_CODE = format_named("claude_code")


def _line(kind: str, content: Any, id_: str = "", **more: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": kind, "content": content}
    if id_:
        message["id"] = id_
    return {"type": kind, "sessionId": "s", "isSidechain": False, "message": message, **more}


def _use(id_: str, message: str = "m1") -> dict[str, Any]:
    return _line(
        "assistant", [{"type": "tool_use", "id": id_, "name": "read", "input": {}}], message
    )


def _result(id_: str, error: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id_, "content": "ok", "is_error": error}
    return _line("user", [block])


def _log(*lines: Any) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def test_a_parallel_batch_is_one_message_and_one_of_results() -> None:
    data = _log(_line("user", "go"), _use("a"), _result("a"), _use("b"), _result("b"))
    (found,) = CLAUDE_CODE.read(data).transcripts
    assert [message.role for message in found.messages] == ["user", "assistant", "user"]
    assert [use.id for use in found.messages[1].tool_uses] == ["a", "b"]
    assert [result.id for result in found.messages[2].tool_results] == ["a", "b"]
    assert counts(found)["alternation"] == 0
    assert counts(found)["late_results"] == 0


def test_two_answers_in_a_row_stay_two() -> None:
    data = _log(_line("user", "go"), _use("a", "m1"), _result("a"), _use("b", "m2"), _result("b"))
    (found,) = CLAUDE_CODE.read(data).transcripts
    assert len(found.messages) == 5


def test_a_text_of_the_user_after_results_is_a_message_of_its_own() -> None:
    data = _log(_line("user", "go"), _use("a"), _result("a"), _line("user", "stop"))
    (found,) = CLAUDE_CODE.read(data).transcripts
    assert counts(found)["alternation"] == 1


def test_meta_summary_and_unknown_lines_are_passed_over() -> None:
    data = _log(
        {"type": "summary", "summary": "x", "leafUuid": "1"},
        _line("user", "caveat", isMeta=True),
        {"type": "hologram", "sessionId": "s"},
        _line("user", "go"),
    )
    recording = CLAUDE_CODE.read(data)
    assert recording.notes == ()
    (found,) = recording.transcripts
    assert found.messages == (Message("user", (Text("go"),)),)


def test_transcripts_are_split_by_session_sidechain_and_agent() -> None:
    data = _log(
        _line("user", "1"),
        _line("user", "2", sessionId="t"),
        _line("user", "3", isSidechain=True),
        _line("user", "4", isSidechain=True, agentId="a1"),
        _line("user", "5"),
    )
    found = CLAUDE_CODE.read(data).transcripts
    assert [t.name for t in found] == ["s", "t", "s, sidechain", "s, sidechain, agent a1"]
    assert [m.text for m in found[0].messages] == ["1", "5"]


def test_a_torn_last_line_is_a_note_and_one_in_the_middle_too() -> None:
    good = _log(_line("user", "go"))
    recording = CLAUDE_CODE.read(good + b'{"type": "us\n' + good + b'{"type": "assis')
    assert len(recording.transcripts[0].messages) == 2
    assert recording.notes == (
        "line 2: not a JSON object, skipped",
        "line 4: the last line is torn, skipped",
    )


@pytest.mark.parametrize(
    ("message", "note"),
    [
        ("error", "line 2: message should be a valid dictionary, skipped"),
        ({"role": "user"}, "line 2: message.content is missing, skipped"),
        (
            {"role": "user", "content": ["x"]},
            "line 2: message.content.0 should be a valid dictionary, skipped",
        ),
    ],
)
def test_a_malformed_message_is_a_note(message: Any, note: str) -> None:
    odd = {"type": "user", "sessionId": "s", "message": message}
    assert CLAUDE_CODE.read(_log(_line("user", "go"), odd)).notes == (note,)


@pytest.mark.parametrize("data", [b"", b"{}", b'{"type": "summary"}\n', b"\xff\xfe", b"[1]\n42\n"])
def test_a_log_without_messages_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="no line holds a message"):
        CLAUDE_CODE.read(data)


def test_unknown_blocks_and_stop_reasons_are_kept() -> None:
    server = {"type": "server_tool_use", "id": "x", "name": "web_search", "input": {}}
    line = _line("assistant", [server], "m1")
    line["message"] |= {"stop_reason": "end_turn", "model": "claude-x"}
    (found,) = CLAUDE_CODE.read(_log(_line("user", "go"), line)).transcripts
    assert found.messages[1].blocks == (Opaque("server_tool_use", server),)
    assert (found.stops, found.model, found.server_tool_calls) == ({1: "end_turn"}, "claude-x", 1)


def test_a_compaction_begins_the_context_anew() -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "sessionId": "s"}
    summary = _line("user", "what was", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    data = _log(_line("user", "go"), _use("a"), _result("a"), boundary, summary, _use("b", "m2"))
    (found,) = CLAUDE_CODE.read(data).transcripts
    assert found.restarts == {3: 3}
    assert [message.text for message in found.context] == ["what was", ""]
    assert counts(found)["messages"] == 5, "the whole log is counted"
    codes = [finding.code for finding in role_alternation(to_history(found))]
    assert codes == [], "no request held the result and the summary"


def test_a_model_that_is_the_program_itself_is_none() -> None:
    failed = _line("assistant", [{"type": "text", "text": "API Error"}], "m1")
    failed["message"]["model"] = "<synthetic>"
    good = _line("assistant", [{"type": "text", "text": "hi"}], "m2")
    good["message"]["model"] = "claude-x"
    assert CLAUDE_CODE.read(_log(failed, good)).transcripts[0].model == "claude-x"


def test_types_that_nobody_knows_yet_begin_a_log_too() -> None:
    assert CLAUDE_CODE.recognises(_log({"type": "hologram", "sessionId": "s"}))
    assert not CLAUDE_CODE.recognises(_log({"type": "hologram"}, {"sessionId": "s"}))


def test_sub_agents_stand_behind_the_main_talk() -> None:
    data = _log(_line("user", "1", isSidechain=True), _line("user", "2"))
    assert [t.name for t in CLAUDE_CODE.read(data).transcripts] == ["s", "s, sidechain"]


def test_circles_of_parents_and_doubled_uuids_are_noted_and_read_all_the_same() -> None:
    data = _log(
        _line("user", "1", uuid="a", parentUuid="b"),
        _line("assistant", [{"type": "text", "text": "2"}], "m", uuid="b", parentUuid="a"),
        _line("user", "3", uuid="a", parentUuid=None),
        _line("user", "4", uuid="c", parentUuid="gone"),
        _line("user", "5", uuid="", parentUuid=7),
    )
    recording = CLAUDE_CODE.read(data)
    assert recording.notes == (
        "line 3: its uuid is that of line 1",
        "line 1: its parents lead back to it",
    )
    assert len(recording.transcripts[0].messages) == 5


def test_a_log_is_read_from_lines_that_are_handed_in_one_by_one() -> None:
    data = _log(_line("user", "go"), _use("a"), _result("a"))
    lines = (line + b"\n" for line in data.split(b"\n") if line)
    assert CLAUDE_CODE.read_lines(lines) == CLAUDE_CODE.read(data)


_TEXT = st.text(min_size=1, alphabet=st.characters(exclude_categories=["Cs"]))
_BLOCK = st.one_of(
    st.builds(Text, _TEXT),
    st.builds(Thinking, _TEXT, _TEXT),
)


@st.composite
def _steps(draw: st.DrawFn) -> list[Message]:
    """Turns of an agent: a batch of calls with its results, or a text, each after the user's."""
    messages = [Message("user", (Text("go"),))]
    for n in range(draw(st.integers(0, 5))):
        said = draw(st.lists(_BLOCK, max_size=2))
        ids = [f"{n}_{m}" for m in range(draw(st.integers(0, 4)))]
        uses = [ToolUse(id_, draw(st.sampled_from("ab")), {"x": draw(_TEXT)}) for id_ in ids]
        if not said and not uses:
            said = [Text("done")]
        messages.append(Message("assistant", (*said, *uses)))
        answers = tuple(ToolResult(id_, draw(_TEXT), draw(st.booleans())) for id_ in ids)
        messages.append(Message("user", answers or (Text("go on"),)))
    return messages


def _lines(message: Message, index: int) -> list[dict[str, Any]]:
    """A message as the log writes it: a line for each block."""
    from harness.providers.anthropic.blocks import block_to

    id_ = f"m{index}" if message.role == "assistant" else ""
    return [_line(message.role, [block_to(block)], id_) for block in message.blocks]


@given(_steps(), st.randoms(use_true_random=False))
def test_any_legal_interleaving_of_a_batch_reads_back(messages: list[Message], random: Any) -> None:
    written: list[dict[str, Any]] = []
    for index in range(0, len(messages), 2):
        # messages[0] is the user's; then pairs of an answer and its results, whose lines the log
        # may mix, each result after its call and all in order.
        pair = messages[1 + index : 3 + index]
        written += _lines(messages[0], 0) if index == 0 else []
        written += _mixed(pair, index, random)
    (found,) = CLAUDE_CODE.read(_log(*written)).transcripts
    assert list(found.messages) == messages


def _mixed(pair: list[Message], index: int, random: Any) -> list[dict[str, Any]]:
    if not pair:
        return []
    said, answers = _lines(pair[0], index), _lines(pair[1], index)
    if not pair[1].tool_results:
        return said + answers
    before = len(said) - len(answers)
    mixed, answered = said[:before], 0
    for line in said[before:]:
        mixed.append(line)
        while answered < len(mixed) - before - answered and random.random() < 0.5:
            mixed.append(answers[answered])
            answered += 1
    return mixed + answers[answered:]
