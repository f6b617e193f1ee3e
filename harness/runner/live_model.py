"""A run whose model is the real one, for a recording: everything else is the scenario's.

Its inbox, tools and session to begin with are as in any supervised run. Its script is not played,
and its faults strike nothing, since the model answers for itself. What reaches the model through
the URL that the target is given is heard by the recording proxy; a Python target that brings
a client with a URL of its own is heard in this process. Nothing is judged: the cassette is what
comes of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from urllib.parse import urlsplit

import msgspec

from harness.cassettes.client_listener import listening
from harness.cassettes.recorder import Recorder
from harness.core.history.events import Ended
from harness.core.scenario import inbox
from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import InputError
from harness.runner.run import session_folder
from harness.runner.worlds import pass_through
from harness.targets import TargetSpec
from harness.transports.recording_proxy import RecordingProxy
from harness.transports.upstream import Provider, Upstream


class LiveRun(msgspec.Struct, frozen=True):
    """How it ended, and what upstream failed to answer."""

    ended: Ended
    failures: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether the target came to its own end, and all that it heard was recorded."""
        return self.ended.how == "returned" and not self.failures


def record_run(
    scenario: Scenario, target: TargetSpec, recorder: Recorder, providers: Mapping[str, Provider]
) -> LiveRun:
    """Run a target through a scenario with the real model, into a recorder.

    Raises InputError for a scenario or target that cannot be used. What was recorded when this
    raises, KeyboardInterrupt too, is in the recorder.
    """
    _check_inbox(scenario)
    played = msgspec.structs.replace(scenario, script=(), faults=())
    target = msgspec.structs.replace(target, options={"stream": scenario.stream, **target.options})
    proxy = RecordingProxy(recorder, Upstream(providers), calls_max=scenario.limits.model_calls)
    with ExitStack() as stack:
        folder = stack.enter_context(session_folder())
        stack.enter_context(proxy)
        if target.kind == "python":
            stack.enter_context(listening(recorder, beside={urlsplit(proxy.url).netloc}))
        history = pass_through(
            played, target, "supervise", folder, script=None, store="", model_url=proxy.url
        )
    ended = next(event for event in reversed(history.events) if isinstance(event, Ended))
    return LiveRun(ended, tuple(proxy.failures))


def _check_inbox(scenario: Scenario) -> None:
    """Raise InputError for a message that waits for a call of the model.

    The real model's calls pass by the run's history, so such a message would never come.
    """
    for entry in inbox.entries(scenario.inbox):
        seam = (entry.after or "").rpartition("#")[0].rpartition("/")[2]
        if seam == "model":
            what = (
                f"waits for {entry.after}, and the real model's calls cannot be waited for while "
                "they are recorded: use {ms: N}, or a call of a tool, the inbox or the outbox"
            )
            raise InputError(what, f"{scenario.name}: inbox message {entry.inbound.id}")
