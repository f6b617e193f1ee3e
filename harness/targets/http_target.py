"""A target that is a server: it is given a run by POST, and its 200 is the run's end."""

from __future__ import annotations

import http.client
from urllib.parse import urlsplit

import msgspec

from harness.core.values.errors import InputError
from harness.targets.spec import End

BODY_MAX = 2000
"""How many bytes of a server's answer a finding quotes."""


def post_run(url: str, brief: dict[str, str], timeout_s: float) -> End:
    """Give a server its brief (the names that a program gets as environment), and wait.

    Raises InputError when nothing listens at `url`.
    """
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.netloc, timeout=timeout_s)
    named = {k: v for k, v in brief.items() if k not in ("PATH", "LANG", "HOME")}
    try:
        connection.connect()
    except OSError as error:
        raise InputError(f"nothing answers there: {error}", f"target {url!r}") from None
    try:
        headers = {"content-type": "application/json"}
        connection.request("POST", parts.path or "/", msgspec.json.encode(named), headers)
        answer = connection.getresponse()
        text = answer.read(BODY_MAX).decode("utf-8", "replace").strip()
    except TimeoutError:
        return End("hung", None, f"the server did not end the run in {timeout_s:.0f} s")
    except (OSError, http.client.HTTPException) as error:
        return End("crashed", None, f"{type(error).__name__}: {error}")
    finally:
        connection.close()
    if answer.status == 200:
        return End("returned", 0)
    return End("crashed", answer.status, f"HTTP {answer.status}: {text}")
