"""Serves a run to an agent that the user starts, until the inbox ends or the user stops it.

The harness does not own the agent's process: it cannot kill it, and does not know its exit. The
agent's actions are judged, its end is not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from harness.clock import RealClock
from harness.core.history.events import Answered, AnyEvent
from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import InputError
from harness.files.owner import scratch_folder
from harness.runner import prepare
from harness.runner.needs import absent, unplayable
from harness.runner.run import Run, judged_run
from harness.runner.session_seed import seed_messages, write_seed
from harness.runner.store_watch import watch_store
from harness.runner.supervise import environment
from harness.targets import End, TargetSpec
from harness.transports.loopback import Loopback

Ready = Callable[[dict[str, str]], None]
"""Called with the environment variables that an agent needs, when the seams are served."""

_OF_OUR_PROCESS = frozenset({"PATH", "LANG", "HOME"})


def serve(
    scenario: Scenario,
    ready: Ready,
    stop: threading.Event,
    *,
    port: int = 0,
    out: Path | None = None,
    store: str = "",
) -> Run:
    """Serve a scenario until its inbox ends, a limit is exceeded, or `stop` is set; then judge.

    Raises InputError if the port is taken. Raises it too for a scenario that needs virtual time, a
    kill or the harness's store.
    """
    target = TargetSpec("started by hand", "http", options={"stream": scenario.stream})
    lacks = absent(scenario) or unplayable(scenario, target, "supervise")
    if reason := "; ".join(lack.reason for lack in lacks):
        raise InputError(reason, scenario.run_name)
    scenario, store = prepare.under_profile(scenario), store or scenario.profile.store
    with scratch_folder() as folder:
        write_seed(folder, seed_messages(scenario))
        transition = prepare.transition_for(scenario, sink=_until_the_inbox_ends(stop))
        clock, passed_a_limit = RealClock(), threading.Event()
        watch_store(transition, store, folder)
        with Loopback(transition, clock, port=port) as loopback:
            loopback.dispatcher.on_stop = partial(_stopped, passed_a_limit, stop)
            prepare.start(transition, target, "supervise", 0, bool(store))
            named = environment(transition, target, folder, loopback)
            ready({name: value for name, value in named.items() if name not in _OF_OUR_PROCESS})
            stop.wait()
        transition.look(clock.now_ms())
        end = End("limit", None, "the agent continued to call after a limit was reported")
        end = end if passed_a_limit.is_set() else End("returned")
        prepare.end(transition, end, clock.now_ms())
        session = folder if scenario.profile.keep else None
        return judged_run(transition, target, "supervise", out, session)


def _until_the_inbox_ends(stop: threading.Event) -> Callable[[AnyEvent], None]:
    """Return a history sink that stops the run after the inbox reports its end."""

    def look(event: AnyEvent) -> None:
        if isinstance(event, Answered) and event.seam == "inbox" and _is_end(event):
            stop.set()

    return look


def _is_end(answered: Answered) -> bool:
    return answered.value is None and answered.status is None and answered.outcome == "ok"


def _stopped(*events: threading.Event) -> None:
    for event in events:
        event.set()
