"""A target that is a server: it gets a run by POST, and its status 200 ends the run."""

from __future__ import annotations

import http.client
import select
from collections.abc import Callable
from urllib.parse import urlsplit

import msgspec

from harness.core.values.errors import InputError
from harness.processes.machine import lack_of
from harness.targets.spec import End

BODY_MAX = 2000
"""The most bytes of a server's answer in a finding."""


LOOK_S = 0.1
"""The interval of checks for the end of the run."""

TIMEOUT_S = 30.0
"""The time limit for a server to accept the run, and to complete a response."""


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
