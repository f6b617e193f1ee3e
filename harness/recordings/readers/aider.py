"""Chat histories of aider: Markdown, to which the program adds what was asked, answered and shown.

A question stands line by line behind `####`, and what the program shows behind `>`. Both end in the
two blanks of a line break; a model's own headings and quotations do not. What is shown between two
answers went back to the model: an edit that did not fit, or the complaint of a linter. The program
itself restores a chat from this file. Source: Aider-AI/aider, aider/io.py (`user_input`,
`append_chat_history`), utils.py (`split_chat_history_markdown`), base_coder.py
(`reflected_message`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.core.values.errors import InputError
from harness.core.values.messages import Message, Text, user
from harness.core.values.plans import ApiError
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import logged_error
from harness.recordings.transcripts import Recording, Transcript

_CHAT = "# aider chat started at "
_BREAK = "  "
_LINE = re.compile(r"\r?\n")
_MODEL = re.compile(r"(?:Main model|Model): (\S+)")
_FAILURE = re.compile(r"litellm\.(\w+):? ")
_COMMAND = re.compile(r"\A[/!](?:(?:ask|code|architect|context)\s+)?")
"""How a command begins. Most ask the model nothing; an answer after one tells that it did."""

_NOTHING = "<blank>"
_USAGE = "Tokens: "


@recognised_by(lambda data: data.lstrip().startswith(_CHAT.encode()))
def aider(document: bytes) -> Recording:
    """aider's chat history.

    A chat without an answer is left out. Raises InputError when no chat has one.
    """
    chats: list[_Chat] = []
    for kind, text in _pieces(document.decode("utf-8", "replace")):
        if kind == "chat":
            chats.append(_Chat(f"{text}, chat {len(chats) + 1}"))
        elif chats:  # a file may be cut at its beginning
            chats[-1].take(kind, text)
    found = tuple(chat.transcript() for chat in chats if chat.is_answered)
    if not found:
        raise InputError("no chat has an answer", "line 1")
    return Recording(found)


def _pieces(document: str) -> Iterator[tuple[str, str]]:
    """What a history is made of: each piece with its kind, `chat`, `asked`, `shown`, `answered`."""
    kind, lines = "", list[str]()
    for line in _LINE.split(document.lstrip()):
        begun, text = _line(line, kind, bool(lines) and not lines[-1].endswith(_BREAK))
        if begun != kind or (kind == "shown" and lines[-1].endswith(_BREAK)):
            yield from _piece(kind, lines)
            kind, lines = begun, []
        lines.append(text)
    yield from _piece(kind, lines)


def _line(line: str, kind: str, is_open: bool) -> tuple[str, str]:
    """The kind of the piece that a line belongs to, and what it adds; "" for an empty line.

    An error with line feeds is shown behind one mark: it is open until a line break.
    """
    if line.startswith(_CHAT):
        return "chat", line.removeprefix(_CHAT)
    if kind == "shown" and is_open:
        return kind, line
    if line.startswith("####") and line.endswith(_BREAK):
        return "asked", line[5:]
    if line.startswith(">") and (line.endswith(_BREAK) or kind != "answered"):
        return "shown", line[2:]
    return ("answered" if kind == "answered" or line.strip() else ""), line


def _piece(kind: str, lines: list[str]) -> Iterator[tuple[str, str]]:
    text = "\n".join(line.removesuffix(_BREAK) for line in lines).strip()
    if kind and text:
        yield kind, text


class _Chat:
    """What the model saw and said in one chat, as far as its history tells."""

    def __init__(self, name: str) -> None:
        self.is_answered = False
        self._name = name
        self._model = ""
        self._asked = ""
        self._shown: list[str] = []
        self._messages: list[Message] = []
        self._failures: dict[int, ApiError] = {}

    def take(self, kind: str, text: str) -> None:
        if kind == "asked":
            self._leave()
            self._asked = "" if text == _NOTHING else text
        elif kind == "answered":
            self._answer(text)
        elif failed := _FAILURE.match(text):
            self._answer(text, logged_error(text, type_=failed[1]))
        elif named := _MODEL.match(text):
            self._model = self._model or named[1]
        elif not text.startswith(_USAGE):
            self._shown.append(text)

    def _leave(self) -> None:
        """A question that got no answer stays in the chat; a command does not."""
        if self._asked and not _COMMAND.match(self._asked):
            self._messages.append(user(self._asked))
        self._asked, self._shown = "", []

    def _answer(self, text: str, failure: ApiError | None = None) -> None:
        if self._asked:
            self._messages.append(user(_COMMAND.sub("", self._asked)))
        elif self._shown and self._is_said():
            self._messages.append(user("\n".join(self._shown)))
        self._asked, self._shown = "", []
        if failure:
            self._failures[len(self._messages)] = failure
        self._messages.append(Message("assistant", (Text(text),)))
        self.is_answered = True

    def _is_said(self) -> bool:
        """Whether the last message is an answer; after a failure the same request is sent."""
        last = len(self._messages) - 1
        return last >= 0 and last not in self._failures and self._messages[last].role != "user"

    def transcript(self) -> Transcript:
        self._leave()
        return Transcript(
            name=self._name,
            messages=tuple(self._messages),
            model=self._model,
            failures=self._failures,
        )
