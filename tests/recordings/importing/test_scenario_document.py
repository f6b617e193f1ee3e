"""A transcript as a scenario: who says what, what each call gave, what was lacking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import Message, Opaque, Text, Thinking, ToolResult, ToolUse
from harness.core.values.plans import ApiError
from harness.files.scenario_file import SourceFile
from harness.files.scenario_text import scenario_text
from harness.files.yaml_text import parse
from harness.recordings.importing.model_script import LAST_WORD, NO_ANSWER
from harness.recordings.importing.scenario_document import PLACEHOLDER
from harness.recordings.importing.transcript_dialogue import NO_QUESTION
from harness.recordings.transcripts import Transcript
from tests.recordings.importing.stories import assistant, call, log, loop, result, told, user


def _document(*messages: Message, **fields: Any) -> dict[str, Any]:
    document = told(log(*messages), **fields).document
    (scenario,) = SourceFile(Path("it.yaml"), *parse(scenario_text(document))).scenarios()
    assert scenario.name == "it"
    return document


def test_a_question_and_its_answer() -> None:
    document = _document(user("Hello"), assistant("Good morning."))
    assert (document["inbox"], document["script"]) == ("Hello", [{"say": "Good morning."}])
    assert document.keys() == {"name", "title", "source", "inbox", "script"}


def test_a_call_and_what_the_tool_answered() -> None:
    document = _document(
        user("Where?"), call("find", "t1", q="Ada"), result("t1", "Oslo"), assistant("In Oslo.")
    )
    assert document["script"] == [{"use": "find", "input": {"q": "Ada"}}, {"say": "In Oslo."}]
    assert document["tools"]["find"]["script"] == [{"ok": "Oslo"}]
    assert document["tools"]["find"]["input_schema"]["required"] == ["q"]


def test_results_are_found_by_their_ids_wherever_they_stand() -> None:
    two = assistant(ToolUse("a", "find", {"q": 1}), ToolUse("b", "find", {"q": 2}))
    both = Message("user", (ToolResult("b", "second"), ToolResult("a", "first")))
    document = _document(user("?"), two, both, assistant("So."))
    assert document["tools"]["find"]["script"] == [{"ok": "first"}, {"ok": "second"}]


def test_a_loop_is_a_line_with_a_last_word_behind_it() -> None:
    made = told(log(user("?"), *loop(40)), fired=("no_progress_stop",))
    use = {"use": "find", "input": {"q": "x"}, "times": 40}
    last_word = {"say": LAST_WORD, "when": "ended"}
    end = {"say": NO_ANSWER, "optional": True}
    assert made.document["script"] == [use, last_word, end]
    assert made.document["tools"]["find"]["script"] == [{"error": "busy", "times": 40}]
    assert made.document["limits"] == {"model_calls": 60}
    assert made.document["expect"] == {"must": ["no_progress_stop"]}


def test_nothing_is_owed_behind_a_loop() -> None:
    script = _document(user("?"), *loop(3), assistant("Never mind."))["script"]
    assert [turn.get("optional", False) for turn in script] == [False, False, True]


def test_a_circle_may_end_at_each_of_its_calls() -> None:
    rounds = [
        m
        for n in range(4)
        for name in ("look", "edit")
        for m in (call(name, f"{name}{n}"), result(f"{name}{n}", "as before"))
    ]
    script = _document(user("?"), *rounds, assistant("Done."))["script"]
    assert [turn.get("when") for turn in script].count("ended") == 6
    assert "&id" in scenario_text({"script": script}), "equal turns are written once"


def test_a_missing_result_is_a_placeholder_and_is_told() -> None:
    made = told(
        log(
            user("?"),
            call("find", "t1", q=1),
            call("find", "t2", q=2),
            result("t2", "two"),
            assistant("So."),
        )
    )
    assert made.document["tools"]["find"]["script"] == [{"ok": PLACEHOLDER}, {"ok": "two"}]
    lines = list(made.fidelity.lines())
    assert lines[0] == "1 of 2 tool results missing; replayable: yes, with placeholders"
    assert lines[1] == "an assistant message that follows another one is one with it"


def test_a_whole_recording_needs_no_placeholder() -> None:
    made = told(log(user("Hello"), assistant("Good morning.")))
    assert list(made.fidelity.lines()) == ["0 of 0 tool results missing; replayable: yes"]


def test_from_a_turn_on_what_was_before_is_stored() -> None:
    messages = (user("a"), call("find", "t1"), result("t1", "x"), assistant("A."), user("b"))
    document = _document(*messages, assistant("B."), at=2)
    assert document["inbox"] == "b"
    assert document["script"] == [{"say": "B."}]
    stored = document["session"]["messages"]
    assert [m["role"] for m in stored] == ["user", "assistant", "user", "assistant"]
    assert stored[2]["content"] == [{"type": "tool_result", "id": "t1", "content": "x"}]
    assert "tools" not in document


@pytest.mark.parametrize("at", [0, 3, 99])
def test_a_turn_that_there_is_not(at: int) -> None:
    with pytest.raises(InputError, match="the turns 1 to 2"):
        told(log(user("a"), assistant("A."), user("b"), assistant("B.")), at=at)


def test_a_trajectory_that_does_not_say_what_was_asked() -> None:
    made = told(log(call("bash", "t1", action="ls"), result("t1", "a.txt"), assistant("Done.")))
    assert made.document["inbox"] == NO_QUESTION
    assert made.fidelity.replayable == "yes, with placeholders"


@pytest.mark.parametrize("messages", [(), (user("a"),)])
def test_nothing_to_play(messages: tuple[Message, ...]) -> None:
    with pytest.raises(InputError, match=r"no message of a user|nothing is answered"):
        told(log(*messages))


def test_an_interrupted_turn_ends_with_a_sentence_before_the_next_message() -> None:
    document = _document(
        user("a"), call("find", "t1"), result("t1", "x"), user("b"), assistant("B.")
    )
    assert [item["text"] for item in document["inbox"]] == ["a", "b"]
    assert document["script"][1:] == [{"say": NO_ANSWER, "optional": True}, {"say": "B."}]


def test_messages_without_an_answer_are_one() -> None:
    assert _document(user("a"), user("b"), assistant("B."))["inbox"] == "a\n\nb"


def test_an_error_that_a_log_shows_as_a_reply_is_a_fault() -> None:
    error = assistant('API Error: 529 {"type":"error"}')
    document = _document(user("a"), error, assistant("A."))
    assert document["script"] == [{"say": "A.", "optional": True}]
    fault = {"kind": "http.status", "status": 529, "when": 1, "must_fire": False}
    assert document["faults"] == [fault]


def test_failed_exchanges_are_faults_where_they_happened() -> None:
    def exchange(answered: bool, *messages: Message, **fields: Any) -> Transcript:
        return log(*messages, exchange=True, answered=answered, **fields)

    busy = ApiError(529, "overloaded_error", "Overloaded")
    long = ApiError(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum")
    a, b = user("a"), user("b")
    last = exchange(True, a, assistant("A."), b, assistant("B."))
    others = (
        exchange(False, a, status=529, error=busy),
        exchange(False, a, status=529, error=busy),
        exchange(True, a, assistant("A.")),
        exchange(False, a, assistant("A."), b, status=400, error=long),
        exchange(False, user("elsewhere"), status=529, error=busy),
    )
    document = told(last, *others).document
    status = {"kind": "http.status", "status": 529, "type": busy.type, "message": busy.message}
    assert document["faults"] == [
        {**status, "when": [1, 2], "must_fire": False},
        {"kind": "http.prompt_too_long", "when": 4, "must_fire": False},
    ]
    assert document["script"][0]["for"] == "compact"


@pytest.mark.parametrize(
    ("stream", "kind"), [(True, "sse.no_message_stop"), (False, "transport.reset_mid_body")]
)
def test_a_cut_answer_is_a_fault(stream: bool, kind: str) -> None:
    cut = log(
        user("a"), assistant("A"), exchange=True, answered=True, complete=False, stream=stream
    )
    document = told(cut).document
    assert [fault["kind"] for fault in document["faults"]] == [kind]
    assert document["script"] == [{"say": "A", "optional": True}]


def test_what_a_fake_model_cannot_say_is_left_out_and_told() -> None:
    reply = Message(
        "assistant",
        (
            Thinking("hm", signature="s"),
            Thinking("", signature="s"),
            Text("So."),
            Opaque("item_reference", {"type": "item_reference"}),
        ),
    )
    made = told(Transcript(name="s", wire="openai-responses", messages=(user("a"), reply)))
    assert made.document["wire"] == "openai-responses"
    assert made.document["script"] == [{"think": "hm", "say": "So."}]
    assert len(list(made.fidelity.lines())) == 3


def test_no_loop_of_a_long_turn_is_owed() -> None:
    rounds = [m for n in range(80) for m in (call("f", f"{n}", n=n), result(f"{n}", f"r{n}"))]
    script = _document(user("a"), *rounds, assistant("A."))["script"]
    assert [turn.get("optional", False) for turn in script] == [False] * 49 + [True] * 32


def test_an_attachment_is_named() -> None:
    image = Opaque("image", {"type": "image", "source": {}})
    document = _document(Message("user", (Text("see"), image)), assistant("I see."))
    assert document["inbox"] == "see\n[image]"
