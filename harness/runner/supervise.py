"""The supervised world: a program in its own process, or a server, over loopback, in real time.

Its environment is scrubbed and names the URLs of its seams. A limit sends SIGTERM, then SIGKILL, to
its process group. A watchdog measures the limits of each attempt. A scripted kill restarts the
program on the same session folder.
"""

from __future__ import annotations

import http.client
import os
import select
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

import msgspec

from harness.checks.evidence.turn_outcomes import is_our_own
from harness.clock import RealClock
from harness.core.history.events import Answered
from harness.core.transition.transition import Transition
from harness.core.values.calls import OutboxRequest
from harness.core.values.errors import InputError
from harness.files.owner import scratch_folder
from harness.processes.family import family
from harness.processes.machine import full_disk, killed_for_memory, lack_of, out_of_memory_kills
from harness.processes.resource_usage import OfProgram, Usage
from harness.processes.thread_times import BackgroundThread
from harness.runner import prepare
from harness.runner.own_files import OwnFiles, watch_files
from harness.runner.program_marks import MarkLog, ProgramMarks
from harness.runner.python_attempt import life_seed
from harness.runner.store_watch import watch_store
from harness.runner.work_folder import working_folder
from harness.targets import End, TargetSpec
from harness.targets.printed_stack import printed_end
from harness.targets.process_target import (
    end_program,
    lasting_programs,
    output_tail,
    pass_on,
    signal_group,
    size_of,
    start_program,
)
from harness.targets.spec import passed_limit
from harness.targets.watchdog import START_S, Liveness, Stop, Watchdog
from harness.transports.dispatcher import LOOK_S as CANCEL_LOOK_S
from harness.transports.loopback import Loopback
from harness.transports.sdk_clients import host_environment, model_environment

HTTP_ERROR = 500
"""From this status on, a server says that it failed, and not its caller."""

BODY_MAX = 2000
"""The most bytes of a server's answer in a finding."""

_OF_NODE = ("NODE_OPTIONS", "NODE_PATH")
"""Variables that say how a program of Node is loaded: they reach it as they are."""

LOOK_S = 0.1
"""The interval of checks for the end of the run."""

TIMEOUT_S = 30.0
"""The time limit for a server to accept the run, and to complete a response."""

_KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)
"""The exit statuses of a killed program; a shell adds 128 to the signal of its child."""

FOLDER = "HARNESS_SESSION_DIR"
"""The variable that names the session folder; it identifies every process of a run."""


def supervise(
    transition: Transition, target: TargetSpec, folder: Path, store: str, model_url: str = ""
) -> None:
    """Run a program or call a server until it ends, is killed too often, or reaches a limit.

    `model_url` is the model's URL if another server serves it.
    """
    clock = RealClock()
    watch_store(transition, store, folder)
    with (
        Loopback(transition, clock, model_url=model_url) as loopback,
        scratch_folder("marks-") as scratch,
    ):
        attempts = _Attempts(transition, target, folder, loopback, clock, bool(store), scratch)
        end = attempts.run()
        for mark in attempts.written.end():
            attempts.marks.take(mark)
    transition.look(clock.now_ms())
    lack, unread = loopback.lack or full_disk(folder), attempts.written.unread
    prepare.end(transition, end, clock.now_ms(), lack, unread_marks=unread)


class _Attempts:
    def __init__(
        self,
        transition: Transition,
        target: TargetSpec,
        folder: Path,
        loopback: Loopback,
        clock: RealClock,
        store: bool,
        scratch: Path,
    ) -> None:
        self.transition, self.target, self.folder = transition, target, folder
        self.loopback, self.clock, self.store = loopback, clock, store
        self.limits = transition.scenario.limits
        self.child: subprocess.Popen[bytes] | None = None
        self.killed = self.stopped = False
        self.passed: End | None = None
        self.memory_kills = out_of_memory_kills()
        self._files: OwnFiles | None = None
        self.work: Path | None = None
        dispatcher = loopback.dispatcher
        dispatcher.on_kill, dispatcher.on_stop = self._kill, self._stop
        self.written = ProgramMarks(scratch)
        self.marks = MarkLog(dispatcher, self.written.read)

    def run(self) -> End:
        with working_folder(self.target) as self.work:
            return self._lives()

    def _lives(self) -> End:
        for attempt in range(self.limits.restarts + 1):
            self.killed = False
            if self.transition.is_faulty("file"):
                folders = (self.folder, self.work) if self.work else (self.folder,)
                self._files = watch_files(self.transition, folders)
            prepare.start(self.transition, self.target, "supervise", attempt, self.store)
            end = self._attempt(attempt)
            self.loopback.endpoints.close()
            if not self.killed:
                return end
            if self._files is not None:
                self._files.damage()
                self.transition.look(self.clock.now_ms())
        return End("killed", None, f"killed more often than limits.restarts = {attempt}")

    def _attempt(self, number: int) -> End:
        env = environment(self.transition, self.target, self.folder, self.loopback, number)
        env |= self.written.names
        if self.target.kind == "http":
            with self._watched(Usage, start_s=0.0):
                return self._posted(env)
        if self.target.lasts:
            return self._attempt_of_lasting(env)
        with tempfile.TemporaryFile() as output, family(f"{FOLDER}={self.folder}"):
            self.child = start_program(self.target, env, output, self.work)
            try:
                pid = self.child.pid
                if self.child.stdin is not None:
                    self.loopback.endpoints.open_lines(self.child.stdin)
                with self._watched(OfProgram(pid), start_s=START_S), self._interrupting():
                    code = self.child.wait()
            finally:
                end_program(self.child)
                pass_on(output)
            return self._ended(code, output)

    def _posted(self, brief: dict[str, str]) -> End:
        """Call the server until it has worked on the run.

        A 5xx after a failed answer of the model tells the caller of it, as most servers do
        with an error that no code caught. The caller then goes on with the next message.
        """
        history = self.transition.history
        while True:
            end = post_run(self.target.url, brief, lambda: self.passed)
            session = next(reversed(history.past.open_sessions), "")
            if (end.exit_code or 0) < HTTP_ERROR or not session or not self._model_failed():
                return end
            self.loopback.dispatcher.outbox(OutboxRequest("error", end.text), session)

    def _model_failed(self) -> bool:
        """Whether the last answer of the model was an error of the API."""
        last = next(reversed(self.transition.history.trace.exchanges), None)
        if last is None or last.answered is None or is_our_own(last.answered):
            return False
        return not last.succeeded

    def _attempt_of_lasting(self, env: dict[str, str]) -> End:
        """Let a lasting program play the run; it stays for the next run if it is still in order."""
        program = lasting_programs().take(self.target, env)
        self.child, start_s = program.child, START_S if program.is_new else 0.0
        in_order, since = False, size_of(program.output)
        try:
            pid = program.child.pid
            with self._watched(OfProgram(pid), start_s=start_s), self._interrupting():
                code = program.play(env)
            in_order = code is None and not (self.killed or self.stopped or self.passed)
            return End("returned", 0) if in_order else self._ended(code or 0, program.output)
        finally:
            if in_order:
                lasting_programs().put_back(self.target, program)
            else:
                program.end()
            pass_on(program.output, since)

    @contextmanager
    def _interrupting(self) -> Iterator[None]:
        """Send SIGINT, for a program that is cancelled by it, when a running turn is cancelled."""
        profile = self.transition.scenario.profile
        if self.target.options.get("cancel", profile.cancel) != "sigint":
            yield
            return
        sessions = {item.session for item in self.transition.scenario.inbox}
        told, over = dict.fromkeys(sessions, False), threading.Event()

        def look() -> None:
            while not over.wait(CANCEL_LOOK_S):
                for session in sessions:
                    before = told[session]
                    told[session] = self.loopback.dispatcher.cancelled_in_turn(session)
                    if told[session] and not before:
                        signal_group(self.child, signal.SIGINT)

        watcher = BackgroundThread(target=look, name="cancels", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    @contextmanager
    def _watched(self, usage: Callable[[], Usage], start_s: float) -> Iterator[None]:
        limits, seams = self.limits, self.loopback.dispatcher
        first = seams.calls

        def counts() -> Liveness:
            return Liveness(limits.real_s, limits.memory_mb, start_s=start_s, calls=first)

        dog = Watchdog(counts, usage, seams, self._pass)
        seams.silent_s = lambda: dog.silent_s
        try:
            yield
        finally:
            dog.close()

    def _pass(self, stop: Stop, text: str) -> None:
        self.passed = passed_limit(stop, text)
        if self.child is not None:
            end_program(self.child)

    def _ended(self, code: int, output: IO[bytes]) -> End:
        if self.passed is not None:
            return self.passed
        if self.killed:
            return End("killed", code)
        if self.stopped:
            return End("limit", code, "the program continued to call after a limit was reported")
        if code == 0:
            return End("returned", 0)
        lack = killed_for_memory(self.memory_kills) if code in _KILLED else None
        return printed_end(code, output_tail(output), os.getcwd(), lack)

    def _kill(self) -> None:
        self.killed = True
        self.marks.write(self.clock.now_ms())
        history, place = self.transition.history, self._files.place if self._files else ""
        last = next(e for e in reversed(history.events) if isinstance(e, Answered))
        where = {"session": last.session, "turn": last.turn, "at": place or last.key}
        history.killed(at_ms=self.clock.now_ms(), **where)
        signal_group(self.child, signal.SIGKILL)

    def _stop(self) -> None:
        self.stopped = True
        signal_group(self.child, signal.SIGTERM)


def environment(
    transition: Transition, target: TargetSpec, folder: Path, loopback: Loopback, number: int = 0
) -> dict[str, str]:
    """Return the scrubbed environment of a program under test, with documented names only."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    scenario, urls = transition.scenario, loopback.urls
    window = scenario.window_tokens
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "HOME": str(home),
        **{name: os.environ[name] for name in _OF_NODE if name in os.environ},
        **model_environment(urls.model),
        **(host_environment(urls.model) if loopback.serves_model else {}),
        "HARNESS_INBOX_URL": urls.inbox,
        "HARNESS_OUTBOX_URL": urls.outbox,
        "HARNESS_TOOLS_URL": urls.tools,
        "HARNESS_APPROVALS_URL": urls.approvals,
        "HARNESS_MCP_URL": urls.mcp,
        "HARNESS_CANCELLED_URL": f"{urls.inbox}/cancelled",
        FOLDER: str(folder),
        "HARNESS_LIMITS": msgspec.json.encode(msgspec.structs.asdict(scenario.limits)).decode(),
        **({"HARNESS_CONTEXT_TOKENS": str(window)} if window else {}),
        "HARNESS_OPTIONS": msgspec.json.encode(target.options).decode(),
        "HARNESS_SEED": str(life_seed(scenario, number)),
        "HARNESS_WIRE": scenario.wire,
    }


def post_run(url: str, brief: dict[str, str], passed: Callable[[], End | None]) -> End:
    """Send a server its brief (the variables that a program gets as environment), and wait.

    `passed` returns the end of a run that exceeded a limit. Raises InputError if no server listens
    at `url`.
    """
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.netloc, timeout=TIMEOUT_S)
    named = {k: v for k, v in brief.items() if k not in ("PATH", "LANG", "HOME")}
    try:
        connection.connect()
    except OSError as error:
        if lack := lack_of(error, ours=True):
            raise lack from None
        raise InputError(f"no server answers: {error}", f"target {url!r}") from None
    try:
        headers = {"content-type": "application/json"}
        connection.request("POST", parts.path or "/", msgspec.json.encode(named), headers)
        while not select.select([connection.sock], [], [], LOOK_S)[0]:
            if (end := passed()) is not None:
                return end
        answer = connection.getresponse()
        text = answer.read(BODY_MAX).decode("utf-8", "replace").strip()
    except TimeoutError:
        return End("hung", None, f"the server stopped within its answer for {TIMEOUT_S:.0f} s")
    except (OSError, http.client.HTTPException) as error:
        return End("crashed", None, f"{type(error).__name__}: {error}", lack=lack_of(error))
    finally:
        connection.close()
    if answer.status == 200:
        return End("returned", 0)
    return End("crashed", answer.status, f"HTTP {answer.status}: {text}")
