"""Users with their passwords where no name gives them away: `curl -u me:…`, and a line of `.netrc`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BLANK = r"(?:\s|\\[nrt]){1,40}"
_WORD = r"[^\s\\]{1,200}"
_NETRC = re.compile(
    rf"(?:machine{_BLANK}{_WORD}|default){_BLANK}login{_BLANK}{_WORD}{_BLANK}"
    rf"(?:account{_BLANK}{_WORD}{_BLANK})?password{_BLANK}(?P<said>[^\s\\]++)"
)
_USER_FLAG = re.compile(
    r"""(?<![\w-])(?:-u|-U|-a|--user|--auth|--proxy-user)(?:["',\s=]|\\["']){0,6}"""
    r"""(?P<said>[^\s"'\\:/@$<{]{1,128}:(?![/$<{])[^\s"'\\]{3,256}+)"""
)
_PROGRAMS = ("curl", "http -", "https -", "xh -")
_COMMAND_MOST_CHARS = 2_000
_IDS = re.compile(r"\d{1,7}:\d{1,7}")


def written_credentials(text: str, small: str) -> Iterator[tuple[int, int]]:
    """Where a user and a password stand in a text; `small` is the text in small letters."""
    if "machine" in small or "default" in small:
        for match in _NETRC.finditer(text):
            yield match.span("said")
    if any(program in small for program in _PROGRAMS):
        for match in _USER_FLAG.finditer(text):
            if _is_of_client(small, match.start()) and not _IDS.fullmatch(match["said"]):
                yield match.span("said")


def _is_of_client(small: str, at: int) -> bool:
    """Whether a flag is one of an HTTP client: `docker run -u 1:a` and `sort -u a:b` are not."""
    least = max(0, at - _COMMAND_MOST_CHARS)
    begin = max(small.rfind(program, least, at) for program in _PROGRAMS)
    return begin >= 0 and small.count("\n", begin, at) == small.count("\\\n", begin, at)
