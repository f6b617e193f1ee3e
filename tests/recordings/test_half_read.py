"""Transcripts that were read by half: what is said of them, and what is no longer asked."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.checks.judge import judge
from harness.checks.loops import no_progress_stop
from harness.checks.tool_ids import tool_pairing
from harness.core.values.messages import ToolResult
from harness.core.values.verdict import Verdict
from harness.recordings.half_read import is_of_a_tool
from harness.recordings.recognition import read
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Recording

Rows = list[dict[str, Any]]


def _calls(*ids: Any) -> Rows:
    return [{"id": i, "function": {"name": "look", "arguments": f'{{"n": "{i}"}}'}} for i in ids]


def _chat(*between: dict[str, Any], ids: tuple[Any, ...] = ("c1", "c2")) -> Rows:
    """A chat with two calls, what stands after them, and an answer."""
    return [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": None, "tool_calls": _calls(*ids)},
        *between,
        {"role": "assistant", "content": "Done."},
    ]


def _read(*rows: dict[str, Any]) -> Recording:
    return read(json.dumps(rows).encode())


def _verdict(recording: Recording) -> Verdict:
    (transcript,) = recording.transcripts
    return judge(to_history(transcript))


def _results(**fields: Any) -> Rows:
    return [{**fields, "tool_call_id": id_, "content": "seen"} for id_ in ("c1", "c2")]


UNKNOWN: dict[str, Rows] = {
    "the role 'toolAnswer'": _results(role="toolAnswer"),
    "the role 'observation'": _results(role="observation"),
    "the role 'ipython'": _results(role="ipython"),
    "the block 'tool_observation'": [
        {"role": "user", "content": [{"type": "tool_observation", "call": i, "text": "seen"}]}
        for i in ("c1", "c2")
    ],
    "the block 'toolCallOutcome'": [
        {"role": "user", "content": [{"type": "toolCallOutcome", "for": "c1", "said": "x"}] * 2}
    ],
    "results that stand in texts of the user": [
        {"role": "user", "content": "[look for 'c1'] Result:\nseen"},
        {"role": "user", "content": "[look for 'c2'] Result:\nseen"},
    ],
    "results that stand in texts": [{"role": "user", "content": "Observation: seen"}],
    "no result is found for any call": [{"role": "user", "content": "seen, and seen"}],
    "no result is found for any": [
        {"role": "tool", "tool_call_id": f"other-{i}", "content": "seen"} for i in (1, 2)
    ],
}
"""What may stand after two calls, by the beginning of what is said of it."""


@pytest.mark.parametrize(("why", "rows"), UNKNOWN.items())
def test_results_of_an_unknown_shape_are_a_doubt_and_no_defect(why: str, rows: Rows) -> None:
    verdict = _verdict(_read(*_chat(*rows)))
    assert verdict.verdict == "unknown"
    assert verdict.doubts[0].startswith(why)
    assert not verdict.findings
    asked_not = {lack.check for lack in verdict.not_applicable}
    assert {"tool_pairing", "role_alternation", "session_answers"} <= asked_not
    assert {"no_progress_stop.same_failure", "unique_tool_ids.two_results"} <= asked_not


def test_a_check_that_rests_on_results_is_silent_without_the_judge_too() -> None:
    failed = {"role": "tool", "content": "no", "is_error": True}
    steps = [
        row
        for id_ in ("d1", "d2", "d3", "d4")
        for row in (
            {"role": "assistant", "tool_calls": _calls(id_)},
            {**failed, "tool_call_id": id_},
        )
    ]
    (transcript,) = _read(*_chat({"role": "ipython", "content": "?"}), *steps).transcripts
    whole = msgspec.structs.replace(transcript, unread=())
    found = [
        [*tool_pairing(history), *no_progress_stop(history)]
        for history in map(to_history, (transcript, whole))
    ]
    assert found[0] == []
    assert {"tool_pairing.unanswered", "no_progress_stop.same_failure"} <= {
        finding.code for finding in found[1]
    }


def test_what_does_not_rest_on_results_is_still_judged() -> None:
    rows = [
        row
        for n in range(5)
        for row in (
            {"role": "assistant", "tool_calls": [{**_calls("same")[0], "id": f"c{n}"}]},
            {"role": "ipython", "content": "seen"},
        )
    ]
    verdict = _verdict(_read({"role": "user", "content": "Look."}, *rows))
    assert [finding.code for finding in verdict.findings] == ["no_progress_stop.same_call"]
    assert verdict.verdict == "fail"
    assert "(5 of them)" in verdict.doubts[0]


READ: dict[str, Rows] = {
    "tool": _results(role="tool"),
    "pi-ai": [
        {"role": "toolResult", "toolCallId": id_, "toolName": "look", "isError": False,
         "content": [{"type": "text", "text": "seen"}]}
        for id_ in ("c1", "c2")
    ],
    "spelt otherwise": _results(role="tool_response"),
    "parts of the user": [
        {"role": "user", "content": [{"type": "tool_output", "call_id": id_, "output": "seen"}]}
        for id_ in ("c1", "c2")
    ],
    "parts of the assistant": [
        {"role": "assistant", "content": [
            {"type": "tool_output", "id": f"part-{id_}", "tool_call_id": id_, "output": "seen"}
            for id_ in ("c1", "c2")
        ]},
    ],
}  # fmt: skip


@pytest.mark.parametrize("rows", READ.values(), ids=list(READ))
def test_results_of_a_known_shape_answer_their_calls(rows: Rows) -> None:
    recording = _read(*_chat(*rows))
    verdict = _verdict(recording)
    assert (verdict.verdict, verdict.doubts) == ("pass", ())
    assert "tool_pairing" in verdict.passed
    results = [r for m in recording.transcripts[0].messages for r in m.tool_results]
    assert [(r.id, r.text) for r in results] == [("c1", "seen"), ("c2", "seen")]


def test_a_call_without_its_result_is_found_beside_one_that_has_it() -> None:
    verdict = _verdict(_read(*_chat(_results(role="tool")[0])))
    assert [finding.code for finding in verdict.findings] == ["tool_pairing.unanswered"]
    assert verdict.verdict == "fail"


def test_a_whole_step_in_one_message_is_a_call_and_its_result() -> None:
    call = {"type": "tool_call", "id": "c1", "name": "look", "arguments": {}}
    output = {"type": "tool_output", "tool_call_id": "c1", "output": "seen"}
    parts = [call, output, {"type": "text", "text": "Done."}]
    for said in (
        {"role": "assistant", "content": parts},
        {"role": "assistant", "content": parts[1:], "tool_calls": _calls("c1")},
    ):
        (found,) = _read({"role": "user", "content": "Look."}, said).transcripts
        assert [message.role for message in found.messages] == [
            "user",
            "assistant",
            "tool",
            "assistant",
        ]
        assert found.messages[2].tool_results[0].text == "seen"


def test_what_a_provider_ran_itself_stays_in_its_message() -> None:
    named = {"toolCallId": "s", "toolName": "search"}
    call = {"type": "tool-call", "input": {}, "providerExecuted": True, **named}
    parts = [call, {"type": "tool-result", "output": "seen", **named}]
    (found,) = _read(
        *_chat(*_results(role="tool")), {"role": "assistant", "content": parts}
    ).transcripts
    assert found.server_tool_calls == 1
    assert sum(len(message.tool_results) for message in found.messages) == 2


ids = st.recursive(
    st.text(min_size=1, max_size=5) | st.integers(-9, 9) | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(
    st.lists(ids, min_size=2, max_size=2, unique_by=lambda value: json.dumps(value, sort_keys=True))
)
def test_an_id_of_any_json_names_its_call(two: list[Any]) -> None:
    """Calls whose ids are all read as empty look answered by chance."""
    rows = [{"role": "tool", "tool_call_id": id_, "content": str(n)} for n, id_ in enumerate(two)]
    (found,) = _read(*_chat(*rows[::-1], ids=tuple(two))).transcripts
    asked = [use.id for message in found.messages for use in message.tool_uses]
    given_ = [result.id for message in found.messages for result in message.tool_results]
    assert given_ == asked[::-1]
    assert all(asked)


_META = {"type": "user", "isMeta": True, "sessionId": "s"}
_RESULT = {"role": "user", "content": [{"type": "tool_result", "content": "ok"}]}


@pytest.mark.parametrize(
    "line",
    [
        b"{torn\n",
        b"[1]\n",
        b'{"type":"tool_result","id":"c1"}\n',
        json.dumps({**_META, "message": _RESULT}).encode() + b"\n",
    ],
)
def test_a_lost_line_of_a_session_log_is_a_doubt_that_names_it(line: bytes) -> None:
    said = {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "Hi."}]}
    rows: Rows = [
        {"type": "user", "message": {"role": "user", "content": "Hello."}, "sessionId": "s"},
        {"type": "assistant", "message": said, "sessionId": "s"},
    ]
    lines = [json.dumps(row).encode() + b"\n" for row in rows]
    whole = read(b"".join(lines))
    assert _verdict(whole).verdict == "pass"
    verdict = _verdict(read(lines[0] + line + lines[1]))
    assert verdict.verdict == "unknown"
    assert any("line" in doubt for doubt in verdict.doubts)
    assert "tool_pairing" in {lack.check for lack in verdict.not_applicable}


def test_a_log_that_is_still_written_has_no_doubt() -> None:
    row = {"type": "user", "message": {"role": "user", "content": "Hello."}, "sessionId": "s"}
    recording = read(json.dumps(row).encode() + b'\n{"type": "assis')
    assert recording.notes == ("line 2: the last line is torn, skipped",)
    assert recording.transcripts[0].unread == ()


@pytest.mark.parametrize(
    ("kind", "role", "is_one"),
    [
        ("toolResult", "user", True),
        ("tool_output", "assistant", True),
        ("function_response", "", True),
        ("shell_call_output", "assistant", True),
        ("environment", "", True),
        ("web_search_tool_result", "assistant", False),
        ("search_result", "user", False),
        ("image", "user", False),
        ("summary", "", False),
        ("reasoning", "assistant", False),
        ("file-history-snapshot", "", False),
    ],
)
def test_kinds_that_may_be_calls_or_results(kind: str, role: str, is_one: bool) -> None:
    assert is_of_a_tool(kind, role) is is_one


def _in_xml(asked: str, result: str) -> Recording:
    return _read(
        {"role": "user", "content": "<task>Look.</task>"},
        {"role": "assistant", "content": asked},
        {"role": "user", "content": [{"type": "text", "text": result}]},
        {"role": "assistant", "content": "Done."},
    )


@pytest.mark.parametrize("result", ["[read_file for 'a.py'] Result:\nx", "[read_file] Result:"])
def test_calls_that_stand_as_xml_in_texts_are_a_doubt_and_no_pass(result: str) -> None:
    verdict = _verdict(_in_xml("I look.\n<read_file>\n<path>a.py</path>\n</read_file>", result))
    why = "calls that stand in texts of the assistant are not understood (1 of them)"
    assert (verdict.verdict, verdict.doubts, verdict.findings) == (
        "unknown",
        (why,),
        (),
    )


def test_results_of_calls_that_stand_in_texts_are_a_doubt_and_no_defect() -> None:
    call = '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>'
    verdict = _verdict(
        _read(
            {"role": "user", "content": "look"},
            {"role": "assistant", "content": call},
            {"role": "tool", "content": "<tool_response>seen</tool_response>"},
            {"role": "assistant", "content": "I have seen it."},
        )
    )
    why = "no call is found for any result (1 of them): the log may keep calls in a form that "
    assert (verdict.verdict, verdict.findings) == ("unknown", ())
    assert verdict.doubts == (f"{why}is not understood",)


def test_a_text_of_the_user_that_only_looks_like_a_result_is_no_doubt() -> None:
    assert _verdict(_in_xml("I look.", "[read_file] Result: why is it so slow?")).verdict == "pass"


@pytest.mark.parametrize("named", [{}, {"name": "look"}, {"tool_name": "look"}])
def test_results_without_an_id_answer_the_calls_in_their_order(named: dict[str, Any]) -> None:
    results = [{"role": "tool", "content": "seen", **named}] * 2
    read_back = _read(*_chat(*results), *_chat(results[0], ids=("c3",)))
    said = read_back.transcripts[0].messages
    ids = [block.id for one in said for block in one.blocks if isinstance(block, ToolResult)]
    assert ids == ["c1", "c2", "c3"]
    assert not _verdict(read_back).findings


def test_one_result_more_than_calls_stays_without_an_id() -> None:
    verdict = _verdict(_read(*_chat(*[{"role": "tool", "content": "seen"}] * 3)))
    assert {finding.code for finding in verdict.findings} == {"tool_pairing.orphan"}
