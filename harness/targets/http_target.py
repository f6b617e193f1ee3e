"""A target that is a server: it is given a run by POST, and its 200 is the run's end."""

from __future__ import annotations

import http.client
import select
from collections.abc import Callable
from urllib.parse import urlsplit

import msgspec

from harness.core.values.errors import InputError
from harness.targets.spec import End

BODY_MAX = 2000
"""How many bytes of a server's answer a finding quotes."""


LOOK_S = 0.1
"""How often it is asked whether the run is over."""

TIMEOUT_S = 30.0
"""How long a server may take to accept the run, and to send an answer that it has begun."""


def post_run(url: str, brief: dict[str, str], passed: Callable[[], End | None]) -> End:
    """Give a server its brief (the names that a program gets as environment), and wait.

    `passed` gives the end of a run that passed a limit. Raises InputError when nothing listens at
    `url`.
    """
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.netloc, timeout=TIMEOUT_S)
    named = {k: v for k, v in brief.items() if k not in ("PATH", "LANG", "HOME")}
    try:
        connection.connect()
    except OSError as error:
        raise InputError(f"nothing answers there: {error}", f"target {url!r}") from None
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
        return End("crashed", None, f"{type(error).__name__}: {error}")
    finally:
        connection.close()
    if answer.status == 200:
        return End("returned", 0)
    return End("crashed", answer.status, f"HTTP {answer.status}: {text}")
