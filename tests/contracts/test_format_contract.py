"""Every recording format keeps its laws, and a format that breaks one is told so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any

import pytest

from harness import InputError, Message, Text
from harness.contracts import check_format
from harness.recordings import Format, Recording, Transcript, formats
from tests.contracts.amount import EXAMPLES
from tests.recordings.format_samples import SAMPLES

pytestmark = pytest.mark.hypothesis

FORMATS = formats()


def test_each_format_has_a_sample() -> None:
    assert all(SAMPLES.values())


@pytest.mark.parametrize("name", SAMPLES)
def test_every_format_keeps_its_laws(name: str) -> None:
    check_format(FORMATS[name], *SAMPLES[name], examples=3 * EXAMPLES)


def _talk(texts: Iterable[str], **more: Any) -> Recording:
    said = tuple(Message("user", (Text(text),)) for text in texts)
    return Recording((Transcript(name="talk", messages=said, **more),))


HEAD = b"TALK 1\n"
DOCUMENTS = (HEAD + b"hello\nagain\n", HEAD + "grüße\n".encode())


def talk_log(document: bytes) -> Recording | None:
    """Logs of the talk agent."""
    if not document.startswith(HEAD):
        return None
    texts = document.decode("utf-8", "replace").splitlines()[1:]
    if not texts:
        raise InputError("the log is empty", "line 2")
    return _talk(texts)


def talk_lines(lines: Iterable[bytes]) -> Recording | None:
    """Logs of the talk agent, line by line."""
    rest: Iterator[bytes] = iter(lines)
    if next(rest, b"") != HEAD:
        return None
    texts = [line.decode("utf-8", "replace") for line in rest]
    if not texts:
        raise InputError("the log is empty", "line 2")
    return _talk(texts)


@pytest.mark.parametrize("right", [talk_log, talk_lines])
def test_a_right_format_passes(right: Callable[..., Recording | None]) -> None:
    check_format(right, *DOCUMENTS)


def decodes_strictly(document: bytes) -> Recording | None:
    """A byte that is not text is a separate exception."""
    return talk_log(document) and _talk(document.decode().splitlines())


def counts_on_a_line(document: bytes) -> Recording | None:
    """A log without a line is an exception."""
    if not document.startswith(HEAD):
        return None
    return _talk([document.decode("utf-8", "replace").splitlines()[1]])


def reads_everything(document: bytes) -> Recording | None:
    """It reads any text as a conversation."""
    return _talk([document.decode("utf-8", "replace")])


_seen = count()


def reads_something_else(document: bytes) -> Recording | None:
    """Each time another text."""
    return (document.startswith(HEAD) and _talk([str(next(_seen))])) or None


def refuses_at_length(document: bytes) -> Recording | None:
    """Its reason is more than a line."""
    if document in DOCUMENTS:
        return talk_log(document)
    if document.startswith(HEAD):
        raise InputError("it is\nno talk")
    return None


def refuses_without_a_word(document: bytes) -> Recording | None:
    """It gives no reason."""
    if document in DOCUMENTS:
        return talk_log(document)
    if document.startswith(HEAD):
        raise InputError("")
    return None


def names_all_alike(document: bytes) -> Recording | None:
    """Two transcripts of one name."""
    one = talk_log(document)
    return one and Recording((*one.transcripts, *one.transcripts))


def returns_words(document: bytes) -> Any:
    """A text is not a recording."""
    return document.decode("utf-8", "replace") if document.startswith(HEAD) else None


def reads_nothing(document: bytes) -> Recording | None:
    """It recognises nothing."""
    return None


def reads_no_message(document: bytes) -> Recording | None:
    """It finds no message."""
    return talk_log(document) and _talk([])


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (decodes_strictly, "failed: UnicodeDecodeError"),
        (counts_on_a_line, "failed: IndexError"),
        (reads_everything, "which is not a recording"),
        (reads_something_else, "reads the same document differently each time"),
        (refuses_at_length, "refuses with more than a line"),
        (refuses_without_a_word, "refuses a document without a reason"),
        (names_all_alike, "two transcripts have one name"),
        (returns_words, "returned a str"),
        (reads_nothing, "does not read a document that it gets"),
        (reads_no_message, "there is no message in it"),
    ],
)
def test_a_wrong_format_is_told(wrong: Callable[..., Any], sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_format(wrong, *DOCUMENTS, examples=200)


def test_a_format_needs_a_document() -> None:
    with pytest.raises(AssertionError, match="give a document that it reads"):
        check_format(talk_log)


def no_format(text: bytes) -> Recording | None:
    """Its first parameter has another name."""
    return None


def test_a_function_that_is_no_format_is_told() -> None:
    with pytest.raises(AssertionError, match="a format with `document`, `lines` or `tables`"):
        check_format(no_format, b"x")


def test_a_format_of_ours_may_be_given_as_it_is() -> None:
    assert all(isinstance(format, Format) for format in FORMATS.values())
