"""Names of this machine that several rooms know: hosts, tokens of URLs, and our scratch folders.

Two runs differ in them without a reason, so a comparison ignores them. Several rooms use them.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})
"""The hosts of a URL that leads to this machine."""

TOKEN_PREFIX = "lhr_"
"""How the token begins that is the first part of the paths of a server of ours."""

# The token as the first part of a path, and what stands before it.
_TOKEN = re.compile(rf"(https?://[^/?#]+)/{TOKEN_PREFIX}[0-9a-f]{{32}}(?=[/?#]|\Z)", re.IGNORECASE)


def without_token(url: str) -> str:
    """A URL of a server of ours without its token; any other URL as it is.

    Each start of a server draws another token. A recording that kept it would match no later
    request, and would hold a secret of the run.

    >>> without_token("http://127.0.0.1:80/lhr_0123456789abcdef0123456789abcdef/v1?a=b")
    'http://127.0.0.1:80/v1?a=b'
    """
    found = _TOKEN.match(url)
    if found is None or _host(found[1]) not in LOOPBACK_HOSTS:
        return url
    return found[1] + url[found.end() :]


def _host(origin: str) -> str | None:
    try:
        return urlsplit(origin).hostname
    except ValueError:  # a bracket without its other one
        return None


DUMMY_KEY = "sk-harness-dummy"
"""The key that an agent under test is given. No text of a provider holds it, so an agent that
says it has it from its client or environment. It begins as keys do, for programs that look."""

SCRATCH_PREFIX = "loop-harness-"
"""The beginning of the name of each temporary folder of the harness."""
