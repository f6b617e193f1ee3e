"""A cassette behind a URL: played in place of a model, or recorded from the real model.

`playing` and `recording_to` serve a test that runs its own agent, without inbox and judge.
`record_run` runs a target with the real model: script and faults have no effect, and there is no
verdict. A Python client with its own URL is recorded in this process.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from harness.cassettes.cassette_file import archive_notes, read_cassette, wire_of
from harness.cassettes.client_listener import listening
from harness.cassettes.recorder import Recorder
from harness.checks.judge import judge
from harness.clock import RealClock
from harness.core.history.events import Ended
from harness.core.scenario import inbox
from harness.core.scenario.scenario import CassetteScript, Limits, Scenario
from harness.core.values.errors import HarnessError, InputError
from harness.files.owner import scratch_folder
from harness.runner import prepare
from harness.runner.run import pass_through
from harness.targets import End, TargetSpec
from harness.transports.loopback import Loopback
from harness.transports.recording_proxy import RecordingProxy
from harness.transports.upstream import ProviderAccess, Upstream


class NotAsRecorded(HarnessError):
    """The requests differ from the recorded ones, or some are missing; the text names them."""


@contextmanager
def playing(path: Path) -> Iterator[str]:
    """Yield the URL of a model that plays a cassette strictly.

    Raises InputError for a file that cannot be played. Raises NotAsRecorded at the end of the block
    for a request that is not recorded, and for a recorded one that did not come.
    """
    recorded = read_cassette(path)
    for note in archive_notes(path):
        warnings.warn(f"{path}: {note}", stacklevel=3)
    wires = [wire for wire in (wire_of(e.method, e.path) for e in recorded) if wire is not None]
    if not wires:
        raise InputError("no exchange of the cassette is a call to a model", str(path))
    scenario = Scenario(
        name=path.stem,
        wire=wires[0].name,
        script=CassetteScript(cassette=str(path)),
        limits=Limits.unreached(model_calls=2 * len(recorded) + 50),
    )
    transition, clock = prepare.transition_for(scenario), RealClock()
    with Loopback(transition, clock) as loopback:
        prepare.start(transition, TargetSpec("test", "http"), "supervise", 0, store=False)
        yield loopback.urls.model
    prepare.end(transition, End("returned"), clock.now_ms())
    found = [f for f in judge(transition.history).findings if f.check == "cassette"]
    if found:
        raise NotAsRecorded("\n".join(map(str, found)))


@contextmanager
def recording_to(
    path: Path,
    providers: Mapping[str, ProviderAccess],
    *,
    secrets: Collection[str] = (),
    allowed: Collection[str] = (),
) -> Iterator[str]:
    """Yield a URL of the real model; the calls are written to a cassette at the end of the block.

    A block that raises writes nothing. Raises InputError for a request without a response, and as
    `Recorder.write` does.
    """
    recorder = Recorder(secrets, allowed)
    with RecordingProxy(recorder, Upstream(providers)) as proxy:
        yield proxy.url
    if proxy.refused:
        what = "requests without the base URL of this recording were refused and not recorded"
        warnings.warn(f"{path}: {proxy.refused} {what}", stacklevel=3)
    if proxy.failures:
        raise InputError("; ".join(proxy.failures), str(path))
    recorder.write(path)


class LiveRun(msgspec.Struct, frozen=True):
    """How a recorded run ended, the requests without a response, and the number of refused ones."""

    ended: Ended
    failures: tuple[str, ...]
    refused: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether the target ended by itself, and every response that it got was recorded."""
        return self.ended.how == "returned" and not self.failures


def record_run(
    scenario: Scenario,
    target: TargetSpec,
    recorder: Recorder,
    providers: Mapping[str, ProviderAccess],
    tell: Callable[[str], None] | None = None,
) -> LiveRun:
    """Run a target through a scenario with the real model, into a recorder.

    `tell` gets a sentence for each of the first requests that another program sends.

    Raises InputError for a scenario or target that cannot be used. After any exception,
    KeyboardInterrupt too, the recorder holds the calls so far.
    """
    _check_inbox(scenario)
    played = msgspec.structs.replace(scenario, script=(), faults=())
    target = msgspec.structs.replace(target, options={"stream": scenario.stream, **target.options})
    calls_max = scenario.limits.model_calls
    proxy = RecordingProxy(recorder, Upstream(providers), calls_max=calls_max, tell=tell)
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder())
        stack.enter_context(proxy)
        if target.kind == "python":
            stack.enter_context(listening(recorder, beside={urlsplit(proxy.url).netloc}))
        recorded = pass_through(
            played, target, "supervise", folder, script=None, store="", model_url=proxy.url
        )
    ended = next(event for event in reversed(recorded.history.events) if isinstance(event, Ended))
    return LiveRun(_without(proxy.token, ended), tuple(proxy.failures), proxy.refused)


def _without(token: str, ended: Ended) -> Ended:
    """Return the end without the token: the text of a crash may hold the URL."""
    said = {name: getattr(ended, name).replace(token, "TOKEN") for name in ("text", "traceback")}
    frames = tuple(frame.replace(token, "TOKEN") for frame in ended.frames)
    return msgspec.structs.replace(ended, frames=frames, **said)


def _check_inbox(scenario: Scenario) -> None:
    """Raise InputError for a message that waits for a model call: real calls miss the history."""
    for entry in inbox.entries(scenario.inbox):
        seam = (entry.after or "").rpartition("#")[0].rpartition("/")[2]
        if seam == "model":
            what = (
                f"waits for {entry.after}, and the real model's calls cannot be waited for while "
            )
            how = "they are recorded: use {ms: N}, or a call of a tool, the inbox or the outbox"
            raise InputError(what + how, f"{scenario.name}: inbox message {entry.inbound.id}")
