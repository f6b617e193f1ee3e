"""Fake models for tests in another language, by lines of JSON.

A test runner of Node starts one process, and scripts in it the models of its tests, one after the
other or several at once. The words are those of `FakeModel`, so each behaves as in Python. Only
the listed methods can be called, and a line holds values only: no text in it is run.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Literal, TypeAlias

import msgspec

from harness.core.scenario.scenario import Turn
from harness.core.values.errors import InputError, nearest
from harness.core.values.messages import Json, Message
from harness.core.values.verdict import FindingClass
from harness.runner.fake_model import FakeModel, FakeRequest, NotAsScripted
from harness.runner.session_url import SessionUrl
from harness.transports.sdk_clients import model_environment

PROTOCOL = 1
"""The version of these lines: a package of another version is told so, and not misread."""

LINES = (
    "says", "thinks", "calls", "also_calls", "when", "stops", "fails", "fault", "times", "turn",
    "cassette",
)  # fmt: skip
"""The methods of a fake model that a script may name."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a model, with the names that `FakeModel` has."""

    wire: str = ""
    dialect: str = ""
    window_tokens: int | None = None
    model_calls: int | None = None
    seed: int = 0
    checks: dict[str, dict[str, Json]] = {}
    fail_on: FindingClass | None = None


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the script: a method, its arguments, and those that have a name."""

    line: str
    args: tuple[Json, ...] = ()
    settings: dict[str, Json] = {}


class _OfModel(msgspec.Struct, frozen=True, tag_field="do", tag=str.lower):
    """A command about a model; its `id` is that of the answer."""

    id: int
    model: str


class Serve(_OfModel, frozen=True):
    """Script a model and serve it: at the URL of the session if that is free, else at another."""

    name: str = "fakeModel"
    settings: Settings = Settings()
    lines: tuple[Line, ...] = ()


class Requests(_OfModel, frozen=True):
    """Tell the requests so far."""


class Verify(_OfModel, frozen=True):
    """Judge the requests so far."""


class Seen(_OfModel, frozen=True):
    """Tell the findings on the requests of a test that failed by itself, without unplayed lines."""


class Save(_OfModel, frozen=True):
    """Write the test as a scenario."""

    path: str


class End(_OfModel, frozen=True):
    """Serve a model no more."""


Command: TypeAlias = Serve | Requests | Verify | Seen | Save | End


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to a command; `kind` says whether the input or the code under test is wrong."""

    id: int
    value: Any = None
    error: str = ""
    kind: Literal["", "input", "finding"] = ""
    warnings: tuple[str, ...] = ()


class _Lent(msgspec.Struct):
    model: FakeModel
    held: ExitStack


class LentModels:
    """The models of one test process, and their common URL."""

    def __init__(self) -> None:
        self._url = SessionUrl()
        self._lent: dict[str, _Lent] = {}

    def ready(self, version: str) -> dict[str, Json]:
        """Return the first line: who speaks, and what the clients of the SDKs read."""
        url, named = self._url.url, dict[str, Json](model_environment(self._url.url))
        return {"protocol": PROTOCOL, "version": version, "url": url, "env": named}

    def answer(self, line: bytes) -> Answer:
        """Do what a line asks, and return the answer; for a line without an id that of id 0."""
        try:
            command = msgspec.json.decode(line, type=Command)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            return Answer(_id_of(line), error=str(error), kind="input")
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            done = self._done(command)
        return msgspec.structs.replace(done, warnings=tuple(str(each.message) for each in told))

    def _done(self, command: Command) -> Answer:
        try:
            return Answer(command.id, value=self._value(command))
        except NotAsScripted as error:
            return Answer(command.id, error=str(error), kind="finding")
        except (InputError, TypeError, ValueError) as error:
            # A wrong number of arguments is a TypeError, in the words of Python.
            return Answer(command.id, error=str(error), kind="input")

    def _value(self, command: Command) -> Json:
        match command:
            case Serve():
                return self._serve(command)
            case Requests():
                return [_told(request) for request in self._of(command).model.requests]
            case Verify():
                return _verified(self._of(command).model)
            case Seen():
                judged = self._of(command).model.judged()
                found = judged.verdict.failing if judged else ()
                return "\n".join(str(finding) for finding in found if finding.class_)
            case Save():
                return str(self._of(command).model.save(command.path))
            case End():
                if lent := self._lent.pop(command.model, None):
                    lent.held.close()
                return None

    def _of(self, command: _OfModel) -> _Lent:
        if command.model not in self._lent:
            raise InputError("this model is not served: ask inside serve()", command.model)
        return self._lent[command.model]

    def _serve(self, command: Serve) -> Json:
        if command.model in self._lent:
            raise InputError("this model is served already", command.model)
        named = {k: v for k, v in msgspec.structs.asdict(command.settings).items() if v is not None}
        model, held = FakeModel(command.name, **named), ExitStack()
        model.at, model.unasked = self._url, UNASKED
        for line in command.lines:
            say(model, line)
        env = held.enter_context(model.serve())
        self._lent[command.model] = _Lent(model, held)
        return {"url": model.url, "env": dict[str, Json](env)}

    def close(self) -> None:
        """Serve nothing more."""
        # The last one first: each puts back the environment that it found.
        for lent in reversed(self._lent.values()):
            lent.held.close()
        self._url.close()


class _Numbered(msgspec.Struct):
    id: int = 0


def _id_of(line: bytes) -> int:
    """The id of a line that cannot be read: its writer waits for an answer."""
    try:
        return msgspec.json.decode(line, type=_Numbered).id
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return 0


UNASKED = (
    "no request reached the fake model: make the client inside serve(), give it `model.url`, or "
    "name the URL before any import by `node --import loop-harness/register`"
)


def _verified(model: FakeModel) -> Json:
    """Judge a model; the text of a failure ends with the command that explains it."""
    try:
        run = model.verify()
    except NotAsScripted as error:
        raise NotAsScripted("\n".join([str(error), *_explained(model)])) from None
    return {"verdict": run.verdict.verdict, "requests": len(run.history.trace.exchanges)}


def _explained(model: FakeModel) -> list[str]:
    run = model.judged()
    found = (run.verdict.failing or run.verdict.findings) if run else ()
    return [f"explain: harness explain {finding.code}" for finding in found[:1]]


def say(model: FakeModel, line: Line) -> None:
    """Script one line. Raises InputError for an unknown method, TypeError for wrong arguments."""
    if line.line not in LINES:
        raise InputError(f"no such line; {nearest(line.line, LINES)}", line.line)
    args = line.args
    if line.line == "turn":
        args = tuple(msgspec.convert(each, Turn) for each in args)
    getattr(model, line.line)(*args, **line.settings)


def _told(request: FakeRequest) -> Json:
    return {
        "model": request.model,
        "system": request.system,
        "tools": list(request.tools),
        "stream": request.stream,
        "status": request.status,
        "messages": [_message(message) for message in request.messages],
    }


def _message(message: Message) -> Mapping[str, Json]:
    uses = [{"id": use.id, "name": use.name, "input": use.input} for use in message.tool_uses]
    results = [
        {"id": result.id, "text": result.text, "is_error": result.is_error}
        for result in message.tool_results
    ]
    return {
        "role": message.role,
        "text": message.text,
        "tool_uses": uses,
        "tool_results": results,
    }
