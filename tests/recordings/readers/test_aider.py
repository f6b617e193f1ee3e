"""aider's chat history: questions, answers, what went back to the model, and what failed."""

from __future__ import annotations

import pytest

from harness.checks.judge import judge
from harness.core.values.errors import InputError
from harness.core.values.messages import Text
from harness.recordings.recognition import format_named, format_of, read
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript

_BEGINNING = """\

# aider chat started at 2026-04-26 14:05:30

> Aider v0.86.1{}
> Model: openai/gpt-5.5 with diff edit format{}
"""


def history(*pieces: str) -> bytes:
    """A file that holds a chat, with the line breaks as the program writes them."""
    return "\n".join([_BEGINNING.format("  ", "  "), *pieces, ""]).encode()


def asked(text: str) -> str:
    """A question as the program writes it."""
    return "\n#### " + "  \n#### ".join(text.split("\n")) + "  "


def answered(text: str) -> str:
    """An answer as the program writes it."""
    return f"\n{text}\n"


def shown(text: str) -> str:
    """What the program shows as it writes it."""
    return f"> {text}  "


CHAT = history(
    asked("add a test\nand run it"),
    answered("Here it is.\n\n#### A heading\n\n> a quotation"),
    shown("Tokens: 2.4k sent, 104 received. Cost: $0.01 message, $0.01 session."),
    shown("Applied edit to test_it.py"),
    asked("thanks"),
    answered("You are welcome."),
)
_REFUSED = 'litellm.RateLimitError: AnthropicException - b\'{"type":\n"error"}\''


def _chat(document: bytes) -> Transcript:
    (found,) = read(document).transcripts
    return found


def _said(document: bytes) -> list[tuple[str, str]]:
    texts = []
    for message in _chat(document).messages:
        (block,) = message.blocks
        assert isinstance(block, Text)
        texts.append((message.role, block.text))
    return texts


def test_a_chat_is_what_was_asked_and_answered() -> None:
    assert _said(CHAT) == [
        ("user", "add a test\nand run it"),
        ("assistant", "Here it is.\n\n#### A heading\n\n> a quotation"),
        ("user", "thanks"),
        ("assistant", "You are welcome."),
    ]
    assert format_of(CHAT) == "aider"
    assert _chat(CHAT).model == "openai/gpt-5.5"
    assert _chat(CHAT).name == "2026-04-26 14:05:30, chat 1"
    assert judge(to_history(_chat(CHAT))).verdict == "pass"


def test_each_beginning_is_a_chat_and_one_without_an_answer_is_none() -> None:
    names = [one.name for one in read(CHAT + history(shown("Bye")) + CHAT).transcripts]
    assert [name.rpartition(", ")[2] for name in names] == ["chat 1", "chat 3"]


def test_what_is_shown_between_two_answers_went_back_to_the_model() -> None:
    said = _said(history(
        asked("go"), answered("an edit"), shown("Tokens: 1k sent, 2 received."),
        shown("The LLM did not conform to the edit format."), answered("a better edit"),
    ))  # fmt: skip
    assert said == [
        ("user", "go"),
        ("assistant", "an edit"),
        ("user", "The LLM did not conform to the edit format."),
        ("assistant", "a better edit"),
    ]


def test_a_failure_is_one_of_the_api_and_its_text_may_have_several_lines() -> None:
    found = _chat(history(
        asked("go"), shown(_REFUSED), shown("Retrying in 0.2 seconds..."), shown(_REFUSED),
        answered("done"),
    ))  # fmt: skip
    assert [message.role for message in found.messages] == ["user", *["assistant"] * 3]
    assert {at: (e.type, e.message) for at, e in found.failures.items()} == {
        1: ("RateLimitError", _REFUSED),
        2: ("RateLimitError", _REFUSED),
    }


@pytest.mark.parametrize("command", ["/add a.py", "!ls", "/undo", "<blank>"])
def test_a_command_asks_the_model_nothing(command: str) -> None:
    said = _said(history(asked(command), shown("Done"), asked("go"), answered("done")))
    assert said == [("user", "go"), ("assistant", "done")]


@pytest.mark.parametrize("command", ["/ask what is a/b?", "/code\nwhat is a/b?"])
def test_a_command_with_an_answer_asked_the_model(command: str) -> None:
    said = _said(history(asked(command), answered("half")))
    assert said == [("user", "what is a/b?"), ("assistant", "half")]


def test_a_question_that_was_interrupted_stays_in_the_chat() -> None:
    said = _said(history(asked("go"), shown("^C again to exit"), asked("stop"), answered("ok")))
    assert said == [("user", "go"), ("user", "stop"), ("assistant", "ok")]


def test_line_ends_of_windows_are_none_of_the_text() -> None:
    assert _said(CHAT.replace(b"\n", b"\r\n")) == _said(CHAT)


@pytest.mark.parametrize("document", [history(), history(asked("go")), CHAT[:60]])
def test_a_file_without_an_answer_is_refused(document: bytes) -> None:
    with pytest.raises(InputError, match="no chat has an answer"):
        format_named("aider").read(document)


def test_the_log_of_its_requests_is_refused_with_what_to_read() -> None:
    with pytest.raises(InputError, match=r"aider's log of requests.*aider\.chat\.history\.md"):
        read(b"TO LLM 2025-05-04T17:06:58\n-------\nSYSTEM Act as an expert.\n")
