"""The URL of `fake_model` for a session, and the environment that names it before the first test.

It starts with the first test that serves a model. With the ini key `harness_fake_model` it starts
before the collection, because test modules import the application, and that may make a client.
"""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING

import pytest

from harness.pytest_plugin.play_settings import true_or_false

if TYPE_CHECKING:
    from harness.runner.session_url import SessionUrl

NAME = "harness-session-model"
KEY = "harness_fake_model"


def begin(config: pytest.Config) -> None:
    """Register the URL of the session. Raises InputError for an ini key that cannot be read."""
    is_early = true_or_false(config.getini(KEY), KEY)
    model = SessionModel()
    config.pluginmanager.register(model, NAME)
    if is_early:
        model.name()


def url_of(config: pytest.Config) -> SessionUrl:
    """The URL of the session."""
    model = config.pluginmanager.get_plugin(NAME)
    assert isinstance(model, SessionModel)
    return model.url


class SessionModel:
    """A plugin of the session: it tells what came too late, and closes the URL at the end."""

    def __init__(self) -> None:
        self._stack = ExitStack()

    @cached_property
    def url(self) -> SessionUrl:
        """The URL; a session without a fake model makes none."""
        from harness.runner.session_url import SessionUrl

        made = SessionUrl()
        self._stack.callback(made.close)
        return made

    def name(self) -> None:
        """Name the URL to all SDKs until the end of the session."""
        from harness.runner.fake_model import environment
        from harness.transports.sdk_clients import model_environment

        self._stack.enter_context(environment(model_environment(self.url.url)))

    def pytest_sessionfinish(self) -> None:
        """Warn of requests that came when their test was over."""
        late = self.url.late if "url" in vars(self) else ()
        if late:
            what = f"loop-harness: late requests refused: {len(late)}; the first: {late[0]}"
            warnings.warn(pytest.PytestWarning(what), stacklevel=1)

    def pytest_unconfigure(self) -> None:
        """Close the URL, and restore the environment."""
        self._stack.close()
