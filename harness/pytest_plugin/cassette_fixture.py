"""The fixture `cassette`: a model that plays a cassette, or records one from the real model."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from harness.pytest_plugin.failure_text import fail


class Cassettes:
    """The value of the fixture `cassette`: call it for a model that plays or records a cassette."""

    def __init__(self, folder: Path, test: str, nodeid: str, mode: str) -> None:
        self._folder, self._test, self._nodeid, self._mode = folder, test, nodeid, mode

    def __call__(
        self, name: str | Path = "", *, upstream: str = "", allow: Sequence[str] = ()
    ) -> AbstractContextManager[str]:
        """Yield the URL of a model for the block: `with cassette("refund") as url`.

        A name is a file below `cassettes` beside the test, `.yaml` if it has no suffix; the default
        is the test's name. In the block the environment names the URL, so `Anthropic()` and
        `OpenAI()` find it by themselves. The test fails if a request is not recorded, if a recorded
        one does not come, or if there is no cassette and no --harness-record. `upstream` is the
        model's API for recording. `allow` are digests of texts that only look like secrets.
        """
        given = Path(name or "".join(c if c.isalnum() or c in "-_." else "-" for c in self._test))
        named = given if given.suffix else given.with_name(f"{given.name}.yaml")
        path = self._folder / "cassettes" / named
        records = self._mode == "all" or (self._mode == "once" and not path.exists())
        if not records and not path.exists():
            fail(f"no cassette {path}; record it: {self._command('once')}")
        return self._model(path, records, upstream, allow)

    @contextmanager
    def _model(
        self, path: Path, records: bool, upstream: str, allow: Sequence[str]
    ) -> Iterator[str]:
        from harness.core.values.errors import InputError
        from harness.redaction.secret_scan import secrets_of
        from harness.runner.cassette_model import NotAsRecorded, playing, recording_to
        from harness.transports.sdk_clients import host_environment, model_environment
        from harness.transports.upstream import provider_access

        real: Mapping[str, str] = os.environ
        try:
            opened = (
                recording_to(
                    path, provider_access(real, upstream), secrets=secrets_of(real), allowed=allow
                )
                if records
                else playing(path)
            )
            with opened as url, pytest.MonkeyPatch.context() as patch:
                others = {} if records else host_environment(url)
                for variable, value in {**model_environment(url), **others}.items():
                    patch.setenv(variable, value)
                yield url
        except NotAsRecorded as error:
            again = f"record it again: {self._command('all')}"
            fail(f"{path} does not match the requests\n{error}\n{again}")
        except InputError as error:
            fail("error: " + "\n  ".join(error.lines()))

    def _command(self, mode: str) -> str:
        return f"pytest {shlex.quote(self._nodeid)} --harness-record={mode}"
