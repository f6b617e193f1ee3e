"""Plays suites of vcrpy strictly: with `harness_vcr`, each cassette is matched by its content.

vcrpy still finds the files and intercepts each HTTP library that it knows. This file chooses the
recorded answer to a request. A changed request and an unplayed recorded call fail the test.
Recording is left to vcrpy.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator, Sequence
from copy import copy
from functools import partial
from typing import Any, ClassVar

import pytest
import vcr.config
from vcr.cassette import Cassette, requests_match
from vcr.record_mode import RecordMode

from harness.cassettes.found_secrets import secrets_of_interactions
from harness.core.values.errors import InputError
from harness.core.values.machine_names import without_token
from harness.pytest_plugin.failure_text import LINES_MAX, fail
from harness.pytest_plugin.play_settings import repeat_command
from harness.recordings.http_interaction import Interaction
from harness.runner.recorded_calls import RecordedCalls


class StrictCassette(Cassette):  # type: ignore[misc]
    """A cassette of vcrpy that answers only requests equal to its recording.

    A cassette that vcrpy records is a plain one.
    """

    suite: ClassVar[StrictSuite]
    file: str

    @classmethod
    def load(cls, **settings: Any) -> Cassette:
        """Return the cassette of a file: a strict one if it is played."""
        hook = settings.get("before_record_request")
        settings["before_record_request"] = partial(_without_token, hook)
        made: StrictCassette = super().load(**settings)
        made.file = os.path.relpath(settings["path"])
        mode, exists = made.record_mode, made.rewound
        if mode == RecordMode.NONE or (mode == RecordMode.ONCE and exists):
            made.open()
            return made
        return Cassette.load(**settings)

    def open(self) -> None:
        """Begin to play the cassette."""
        self.is_open, self.told = True, 0
        self.scope = self.suite.scopes[-1] if self.suite.scopes else ""
        self.problem = "" if self.rewound else "is not there"
        try:
            made = [_interaction(*pair) for pair in self.data]
            self.calls = RecordedCalls(made, repeats=self.allow_playback_repeats)
        except InputError as error:
            self.problem, self.calls = f"cannot be read: {error}", RecordedCalls(())
        else:
            self.suite.warn_of_secrets(self.file, made)
        self.suite.opened.append(self)

    def can_play_response_for(self, request: Any) -> bool:
        """Whether a request is answered here: all, except those that vcrpy lets pass."""
        return self._before_record_request(request) is not None

    def play_response(self, request: Any) -> dict[str, Any]:
        """Return the recorded response of an equal request, or a refusal with the nearest one."""
        asked = self._before_record_request(request)
        said = self.calls.answer(
            str(asked.method), asked.uri, _flat(asked.headers), _bytes(asked.body),
            lambda place: requests_match(asked, self.data[place][0], self._match_on),
        )  # fmt: skip
        if said.place is None:
            return _refusal(said.status, said.body)
        self.play_counts[said.place] += 1
        response: dict[str, Any] = self.data[said.place][1]
        return response

    def _save(self, force: bool = False) -> None:
        """Write nothing, and raise nothing, because vcrpy would leave its patches in place."""
        self.is_open = False

    @property
    def is_shared(self) -> bool:
        """Whether several tests play it; it is then judged when it is closed."""
        return self.scope not in ("", "function")

    def new_misses(self) -> list[str]:
        """Return the requests that were refused since the last call."""
        told, self.told = self.told, len(self.calls.misses)
        found = self.calls.misses[told:]
        return [f"the cassette {self.problem}; {found[0]}"] if found and self.problem else found


def _without_token(hook: Callable[[Any], Any] | None, request: Any) -> Any:
    """The request as vcrpy keeps and compares it: a later server of ours has another token."""
    kept = hook(request) if hook else request
    if kept and (uri := without_token(kept.uri)) != kept.uri:
        kept = copy(kept)
        kept.uri = uri
    return kept


def _interaction(request: Any, response: dict[str, Any]) -> Interaction:
    status = response.get("status") or {}
    body = (response.get("body") or {}).get("string", response.get("content"))
    return Interaction(
        method=str(request.method),
        uri=str(request.uri),
        request_headers={name: [value] for name, value in _flat(request.headers).items()},
        request_body=_bytes(request.body),
        status=int(status.get("code") or response.get("status_code") or 200),
        response_headers=_lists(response.get("headers") or {}),
        response_body=_bytes(body),
    )


def _bytes(body: Any) -> bytes:
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    if isinstance(body, (bytes, bytearray)):
        return bytes(body)
    return b"" if body is None else b"".join(map(_bytes, body))


def _lists(headers: Any) -> dict[str, list[str]]:
    return {
        str(name): [str(v) for v in (value if isinstance(value, (list, tuple)) else [value])]
        for name, value in headers.items()
    }


def _flat(headers: Any) -> dict[str, str]:
    return {name.lower(): ", ".join(values) for name, values in _lists(headers).items()}


def _refusal(status: int, body: bytes) -> dict[str, Any]:
    headers = {"content-type": ["application/json"]}
    return {
        "status": {"code": status, "message": "Bad Request"},
        "headers": headers,
        "body": {"string": body},
    }


def begin(config: pytest.Config) -> None:
    """Let vcrpy make strict cassettes in this session, and judge the cassettes of each test."""
    patch = pytest.MonkeyPatch()
    suite = StrictSuite()
    patch.setattr(vcr.config, "Cassette", type("Cassette", (StrictCassette,), {"suite": suite}))
    config.add_cleanup(patch.undo)
    config.pluginmanager.register(suite, "harness-strict-vcr")
    if not any(config.pluginmanager.hasplugin(name) for name in ("recording", "vcr")):
        from harness.pytest_plugin import vcr_fixtures

        config.pluginmanager.register(vcr_fixtures, "harness-vcr-fixtures")
        config.addinivalue_line("markers", "vcr(*cassettes, **settings): played by vcrpy")


class SecretInCassette(UserWarning):
    """A cassette that is played holds what looks like a secret."""


class StrictSuite:
    """The hooks that judge the cassettes of each test.

    `opened` are the open cassettes, and those that the running test closed. `scopes` are the scopes
    of the fixtures in set-up, the innermost last.
    """

    def __init__(self) -> None:
        self.opened: list[StrictCassette] = []
        self.scopes: list[str] = []
        self._searched: set[str] = set()

    def warn_of_secrets(self, file: str, calls: Sequence[Interaction]) -> None:
        """Warn once of each cassette that holds what looks like a secret."""
        if file in self._searched:
            return
        self._searched.add(file)
        found = sorted(set(secrets_of_interactions(calls)))
        if found:
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            what = f"{file} holds a secret: {found[0]}{more}; see: harness secrets {file}"
            warnings.warn(SecretInCassette(what), stacklevel=2)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
        """Note the scope in which a cassette is opened."""
        self.scopes.append(fixturedef.scope)
        try:
            return (yield)
        finally:
            self.scopes.pop()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Drop the cassettes of one test."""
        try:
            return (yield)
        finally:
            self.opened[:] = [each for each in self.opened if each.is_open]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Fail a test with other requests than recorded, or fewer."""
        raised = ""
        try:
            result = yield
        except (pytest.skip.Exception, pytest.xfail.Exception):
            raise
        except Exception as error:
            if not any(len(each.calls.misses) > each.told for each in self.opened):
                raise
            first = (str(error).splitlines() or [""])[0]
            raised, result = f"{type(error).__name__}: {first}"[:100], None
        for each in self.opened:
            judge(each, raised, _again(item))
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Judge the shared cassettes that are closed now."""
        result = yield
        for each in self.opened:
            unplayed = [*each.calls.unplayed()]
            if each.is_shared and not each.is_open and unplayed:
                fail(_text(each, [], unplayed, ""))
        return result


def judge(cassette: StrictCassette, raised: str, again: Sequence[str]) -> None:
    """Fail the test if its cassette was not played as recorded."""
    misses = cassette.new_misses()
    unplayed = [] if cassette.is_shared or raised else [*cassette.calls.unplayed()]
    if misses or unplayed:
        fail(_text(cassette, misses, unplayed, raised, again))


def _text(
    cassette: StrictCassette,
    misses: Sequence[str],
    unplayed: Sequence[str],
    raised: str,
    again: Sequence[str] = (),
) -> str:
    """Return the block of a failing test: the different requests, then the missing ones."""
    lines = [f"cassette.miss: {misses[0]}"] if misses else []
    lines += [f"  then {miss}" for miss in misses[1:4]]
    if len(misses) > 4:
        lines.append(f"  and {len(misses) - 4} more requests that were not recorded")
    word = "  never asked for:" if lines else "cassette.unplayed: never asked for:"
    if unplayed:
        more = f" and {len(unplayed) - 6} more" if len(unplayed) > 6 else ""
        lines.append(f"{word} {', '.join(unplayed[:6])}{more}")
    lines.append(f"  in {cassette.file}")
    if raised:
        lines.append(f"  the test then raised {raised}")
    return "\n".join([*lines, *again][:LINES_MAX])


def _again(item: pytest.Item) -> list[str]:
    """Return the commands that repeat the test, and record its cassette again."""
    command = repeat_command(item)
    options = {"--record-mode": "rewrite", "--vcr-record": "all"}
    known = {name for name in options if hasattr(item.config.option, _attribute(name))}
    record = [f"  record:  {command} {name}={options[name]}" for name in known]
    return [f"  repeat:  {command}", *record]


def _attribute(option: str) -> str:
    return option.strip("-").replace("-", "_")
