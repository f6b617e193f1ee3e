"""A PostgreSQL server of the tests' own: a new cluster in a scratch folder, with fsync on.

Debian's packages keep the programs in /usr/lib/postgresql/VERSION/bin. The server refuses to be
run by root, so root starts it as `postgres`, or as `nobody`. It listens on 127.0.0.1 at a port
that is free, in its own folder. It ends with the tests, and at once if they are killed.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

OLDEST = 15
START_S, STOP_S = 60, 30
_HOME = Path("/usr/lib/postgresql")


def programs() -> Path | None:
    """The folder with the newest server's programs; None without one of version 15 or later."""
    found = {int(p.name): p / "bin" for p in _HOME.glob("*") if p.name.isdecimal()}
    fit = [n for n in sorted(found) if n >= OLDEST and (found[n] / "initdb").exists()]
    return found[fit[-1]] if fit else None


def unavailable() -> str:
    """Why there can be no server here, "" when there can."""
    if programs() is None:
        return f"no PostgreSQL {OLDEST} or later in {_HOME}: apt-get install postgresql"
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        return "root cannot run PostgreSQL, and there is no setpriv to become another user"
    return ""


def _as_user() -> tuple[pwd.struct_passwd | None, list[str]]:
    """The user that the server runs as, and what stands before its commands to become it."""
    if os.geteuid() != 0:
        return None, []
    known = {user.pw_name: user for user in pwd.getpwall()}
    user = known.get("postgres") or known["nobody"]
    ids = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return user, ["setpriv", *ids, "--inh-caps=-all"]


def _run(command: Sequence[str | Path], folder: Path) -> None:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=START_S, check=False
    )
    if done.returncode:
        log = folder / "log"
        more = log.read_text()[-2000:] if log.exists() else ""
        raise RuntimeError(f"{command}: {done.stderr}{done.stdout}{more}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def server() -> Iterator[str]:
    """A running server; its value is the DSN of an empty database in which one may do anything."""
    home = programs()
    assert home is not None, unavailable()
    user, become = _as_user()
    folder = Path(tempfile.mkdtemp(prefix="loop-harness-postgres-"))
    try:
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
        data, port = folder / "data", _free_port()
        initdb = ["initdb", "-U", "harness", "-A", "trust", "-E", "UTF8", "--locale=C"]
        _run([*become, home / initdb[0], *initdb[1:], "-D", data], folder)
        options = f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=on"
        control = [*become, str(home / "pg_ctl"), "-D", str(data), "-w", "-t", str(START_S)]
        _run([*control, "-l", str(folder / "log"), "-o", options, "start"], folder)
        try:
            yield f"postgresql://harness@127.0.0.1:{port}/postgres"
        finally:
            _run([*control, "-m", "immediate", "stop"], folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_dsn() -> Iterator[str]:
    """The DSN of a real server, one for each process that runs tests.

    Skips without PostgreSQL, and fails in CI, where it has to be there.
    """
    reason = unavailable()
    if reason and os.environ.get("CI"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    with server() as dsn:
        yield dsn
