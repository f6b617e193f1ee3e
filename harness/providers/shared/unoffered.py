"""What no provider can have: a model that says it does not exist, a picture out of reach.

The fake model serves any name of a model and any address of a picture: it cannot know which ones
exist. Recordings hold refusals of names and addresses that tell it themselves.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

_MISSING = re.compile(
    r"non-?exist(ent|ing)|(does-?)?not-?exist|no-?such-?model|not-?a-?model", re.IGNORECASE
)

_RESERVED = (
    *("localhost", "local", "internal", "invalid", "test", "example", "lan", "home.arpa"),
    *("example.com", "example.net", "example.org"),
)
"""Ends of host names without a picture: private ones, and those for documentation (RFC 2606, 6761,
6762, 8375)."""


def says_missing(model: str) -> bool:
    """Whether the name of a model says that there is no such model: `this-model-does-not-exist`."""
    return _MISSING.search(model.replace("_", "-")) is not None


def is_web_address(url: str) -> bool:
    """Whether a text is an address that begins with `http://` or `https://`."""
    return url.lower().startswith(("http://", "https://"))


def is_out_of_reach(url: str) -> bool:
    """Whether a web address names this machine, a private network, or a host of documentation."""
    if not is_web_address(url):
        return False
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:  # a bracket that does not close
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        name = f".{host}"
        return "." not in host or any(name.endswith(f".{end}") for end in _RESERVED)
