"""Calls of a Python target that would end, kill, replace or fork the process of its run.

`os._exit`, `os.abort`, `os.exec*`, signals to the own process and `os.fork` are replaced from the
first run on. The replacements raise ProcessExit in the threads of a target, and work as usual in
all others. Earlier references (`from os import _exit`) and C code bypass them; a run in its own
process covers those.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from mmap import mmap
from types import TracebackType
from typing import Any, NoReturn, Self

from harness.clock import real_monotonic
from harness.clock.real_clock import real_sleep
from harness.core.values.errors import RunStopped
from harness.targets.process_state import ProcessState

_REAL: dict[str, Callable[..., Any]] = {
    name: getattr(os, name)
    for name in ("_exit", "abort", "execv", "execve", "kill", "killpg", "fork", "forkpty")
}
_real_raise_signal = signal.raise_signal
_real_dump_later = faulthandler.dump_traceback_later

CHILD_S = 5.0
"""How long a forked child of the target may live after the target has ended.

A copy that has returned into the run ends by itself; on a busy machine that took more than 1 s, and
the run passed.
"""

_FORK_MODULES = frozenset({"multiprocessing.popen_fork", "pty"})
"""Modules whose forked children do not return into the run."""

_IGNORED = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}
"""Signals that do nothing without a handler."""


class ProcessExit(BaseException):
    """Raised in a target in place of a call that would end, kill, replace or fork its process."""


class ProcessGuard:
    """A context manager around a target's call: the process continues, and is left unchanged.

    Without `restores` it guards an import, whose changes of the process stay. `refused` holds the
    refused calls of the target, in order.
    """

    def __init__(self, *, restores: bool = True) -> None:
        _install()
        self._restores = restores
        self.refused: list[BaseException] = []
        self.dumps_later = False
        self._pid = os.getpid()
        self._children: list[int] = []
        self._returned: mmap | None = None
        self._before: ProcessGuard | None = None

    def __enter__(self) -> Self:
        global _active
        self.state = ProcessState()
        self._others = weakref.WeakSet(threading.enumerate())
        self._thread = threading.current_thread()
        self._hook, threading.excepthook = threading.excepthook, self._thread_ended
        self._before, _active = _active, self
        _mark(True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        global _active
        if os.getpid() != self._pid:
            self._end_child()
        _mark(False)
        if self.dumps_later:
            faulthandler.cancel_dump_traceback_later()
        if self._children:
            self._await_children()
        _active = self._before
        threading.excepthook = self._hook
        _left.update(t for t in threading.enumerate() if t is not self._thread and self.owns(t))
        if self._restores:
            self.state.restore()

    def owns(self, thread: threading.Thread) -> bool:
        """Whether a thread is the target's: it calls the target, or began during its run."""
        return thread is self._thread or thread not in self._others

    @property
    def holds(self) -> bool:
        """Whether the calling thread and process are the target's."""
        return self._pid == os.getpid() and self.owns(threading.current_thread())

    def refuse(self, call: str, effect: str = "ends") -> NoReturn:
        """Raise ProcessExit, and remember it, because the target may catch the exception."""
        error = ProcessExit(f"{call} {effect} the process of the run")
        self.refused.append(error)
        raise error

    def fork(self, name: str) -> Any:
        """Fork for the target; the child ends where the target's call returns in it."""
        self._returned = self._returned or mmap(-1, 1)
        made = _REAL[name]()
        child = made[0] if isinstance(made, tuple) else made
        if child:
            self._children.append(child)
        return made

    def _end_child(self) -> NoReturn:
        """End a child that returned from the target's call: it must not continue the suite."""
        if self._returned is not None:
            self._returned[0] = 1
        _REAL["_exit"](0)
        raise AssertionError("unreachable")

    def _await_children(self) -> None:
        end_s = real_monotonic() + CHILD_S
        while any(map(_is_alive, self._children)) and real_monotonic() < end_s:
            real_sleep(0.005)
        for child in self._children:
            # It has ended, or the target itself has waited for it.
            with suppress(ProcessLookupError, ChildProcessError):
                if _is_alive(child):
                    _REAL["kill"](child, signal.SIGKILL)
                os.waitpid(child, 0)
        if self._returned is not None and self._returned[0]:
            what = "os.fork(): a child of the target returned from its call"
            self.refused.append(ProcessExit(what))

    def _thread_ended(self, given: Any) -> None:
        """Let `sys.exit` in a thread end only that thread, without output.

        Python does the same, and a wait that outlives its run ends so too. But a status that says
        failure is a failure of the target.
        """
        if given.exc_type is SystemExit:
            if given.exc_value is not None and given.exc_value.code not in (None, 0):
                self.refused.append(given.exc_value)
        elif not issubclass(given.exc_type, ProcessExit | RunStopped):
            self._hook(given)


_active: ProcessGuard | None = None
_left: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
_replaceable = 0
_mark: Callable[[bool], object] = bool


def make_replaceable(mark: Callable[[bool], object] = bool) -> None:
    """Allow the target to fork and end this process.

    `mark` is called with True before the target begins, and with False after it has ended.
    """
    global _replaceable, _mark
    _replaceable, _mark = os.getpid(), mark


def make_worker_replaceable() -> None:
    """Allow it in a worker process; a serial engine plays in the command's own process."""
    from multiprocessing import parent_process  # not needed by a run in the user's own process

    if parent_process() is not None:
        make_replaceable()


def start_folder() -> str:
    """The user's working folder, also where the target plays in another one."""
    return _active.state.folder if _active else os.getcwd()


def in_target() -> bool:
    """Whether the calling thread and process are those of a target that plays."""
    return _active is not None and _active.holds


def kill_process() -> None:
    """End this process like `kill -9`: nothing is flushed, closed or caught."""
    _REAL["kill"](os.getpid(), signal.SIGKILL)


def _guard(what: str) -> ProcessGuard | None:
    """Return the guard of the calling target. Raises ProcessExit in a thread of a past run."""
    if _active is not None and _active.holds:
        return _active
    if threading.current_thread() in _left:
        raise ProcessExit(f"{what}: the run of this thread is over")
    return None


def _refused_in_target(
    name: str, words: Callable[..., str], effect: str = "ends"
) -> Callable[..., Any]:
    """A stand-in that a target's call ends in; `words` tell the call by its arguments."""

    def stand_in(*args: Any, **named: Any) -> Any:
        if guard := _guard(what := words(*args, **named)):
            guard.refuse(what, effect)
        return _REAL[name](*args, **named)

    return stand_in


def _exec_words(path: Any, *args: Any, **named: Any) -> str:
    return f"os.exec of {_name(path)!r}"


def _kill(pid: int, sig: int) -> Any:
    if pid in (os.getpid(), os.getppid(), 0, -1, -os.getpgrp()):
        _refuse_signal(f"os.kill({'self' if pid == os.getpid() else pid}", sig)
    return _REAL["kill"](pid, sig)


def _killpg(group: int, sig: int) -> Any:
    if group in (0, os.getpgrp()):
        _refuse_signal("os.killpg(own group", sig)
    return _REAL["killpg"](group, sig)


def _raise_signal(signalnum: int) -> Any:
    _refuse_signal("signal.raise_signal(", signalnum)
    return _real_raise_signal(signalnum)


def _dump_later(*args: Any, **named: Any) -> None:
    """Begin a watchdog of the target; it must not end a later run of this process."""
    if guard := _guard("faulthandler.dump_traceback_later()"):
        guard.dumps_later = True
    _real_dump_later(*args, **named)


def _forked(name: str) -> Any:
    guard = _guard(what := f"os.{name}()")
    caller = sys._getframe(2).f_globals.get("__name__")
    if guard is None or caller in _FORK_MODULES:
        return _REAL[name]()
    if _replaceable != os.getpid():
        guard.refuse(what, "would copy")
    return guard.fork(name)


def _name(path: Any) -> str:
    return str(path) if isinstance(path, int) else os.path.basename(os.fsdecode(path))


def _refuse_signal(call: str, number: int) -> None:
    """Refuse a signal that ends the process; a signal that the target handles passes."""
    name = signal.Signals(number).name if number in signal.valid_signals() else str(number)
    what = f"{call}{'' if call.endswith('(') else ', '}{name})"
    if number and number not in _IGNORED and (guard := _guard(what)):
        handler, before = signal.getsignal(number), guard.state.handlers.get(number)
        is_own = handler is not None and handler is not signal.SIG_DFL and handler != before
        if number in (signal.SIGKILL, signal.SIGSTOP) or not (is_own or handler is signal.SIG_IGN):
            guard.refuse(what)


_STAND_INS: dict[str, Callable[..., Any]] = {
    "_exit": _refused_in_target("_exit", lambda status: f"os._exit({status})"),
    "abort": _refused_in_target("abort", lambda: "os.abort()"),
    "execv": _refused_in_target("execv", _exec_words, "replaces"),
    "execve": _refused_in_target("execve", _exec_words, "replaces"),
    "kill": _kill,
    "killpg": _killpg,
    "fork": lambda: _forked("fork"),
    "forkpty": lambda: _forked("forkpty"),
}


def _install() -> None:
    if os._exit is not _STAND_INS["_exit"]:
        for name, stand_in in _STAND_INS.items():
            setattr(os, name, wraps(_REAL[name])(stand_in))
        signal.raise_signal = _raise_signal
        faulthandler.dump_traceback_later = _dump_later


def _is_alive(child: int) -> bool:
    """Whether a child still runs; an ended child is left for the target's own wait."""
    try:
        return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except (ChildProcessError, OSError):
        return False
