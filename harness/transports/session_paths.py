"""The session that a path names: any URL of a run takes `/s/SESSION` at its end, or before an SDK's
own path."""

from __future__ import annotations

from urllib.parse import unquote


def split_session(path: str) -> tuple[str, str]:
    """The session that a path names by a leading `/s/SESSION`, "" without one, and the rest."""
    if not path.startswith("/s/"):
        return "", path
    session, slash, rest = path[3:].partition("/")
    return unquote(session), slash + rest


def decoded_path(path: str) -> str:
    """A path, decoded once. A session's name stays as it is, because `split_session` decodes it; so
    does a path with an escaped slash, as a model's name may have one."""
    if not path.startswith("/s/"):
        return path if "%2f" in path.lower() else unquote(path)
    session, slash, rest = path[3:].partition("/")
    return f"/s/{session}{decoded_path(slash + rest)}"
