"""The session that a path names: any URL of a run takes `/s/SESSION` at its end, or before an SDK's
own path."""

from __future__ import annotations

import re
from urllib.parse import unquote

_NAMED = re.compile("(/v1|)/s/([^/]*)(.*)", re.DOTALL)
"""OpenAI's URL of a run has a path itself: `$OPENAI_BASE_URL/s/night` is `/v1/s/night`."""


def split_session(path: str) -> tuple[str, str]:
    """The session that a path names by a leading `/s/SESSION`, "" without one, and the rest."""
    named = _NAMED.fullmatch(path)
    return (unquote(named[2]), named[1] + named[3]) if named else ("", path)


def decoded_path(path: str) -> str:
    """A path, decoded once. A session's name stays as it is, because `split_session` decodes it; so
    does a path with an escaped slash, as a model's name may have one."""
    if named := _NAMED.fullmatch(path):
        return f"{named[1]}/s/{named[2]}{decoded_path(named[3])}"
    return path if "%2f" in path.lower() else unquote(path)
