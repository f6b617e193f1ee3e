"""Whose requests a server of ours answers: those of the agent that was told its URL.

A web page may send requests to a loopback port, and may give its own host name the address of this
machine (DNS rebinding). Most of its requests show a foreign Host or a foreign Origin. A picture, a
link and a form with GET have no Origin, and browsers before 2023 no Sec-Fetch-Site. So every URL
holds a token too, which no other program knows.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping

import h11

from harness.core.values.machine_names import TOKEN_PREFIX
from harness.transports.request_heads import HEAD_MOST_BYTES, RefusedRequest

_NAMES = ("localhost", "127.0.0.1", "[::1]")
_HTTP_PORT = 80
_TOLD_MOST_CHARS = 100
_OWN_SITES = frozenset({"same-origin", "none"})
"""What a browser says of a page of ours, and of an address that its user typed. `same-site` is a
page of another port of this machine."""

_NOT_BELOW = "it is not below the whole base URL that its agent was given, with its path"


def new_token() -> str:
    """A token of one server; `redaction.secret_patterns` knows its shape and masks it."""
    return f"{TOKEN_PREFIX}{secrets.token_hex(16)}"


class AccessCheck:
    """The check of one port, whose paths begin with `/TOKEN`."""

    def __init__(self, port: int, token: str) -> None:
        self._token = f"/{token}"
        bare = _NAMES if port == _HTTP_PORT else ()
        self._hosts = frozenset((*(f"{name}:{port}" for name in _NAMES), *bare))
        self._origins = frozenset(f"http://{host}" for host in self._hosts)
        self._ours = ", ".join(f"{name}:{port}" for name in _NAMES)

    def path(self, method: str, path: str, headers: Mapping[str, str]) -> str:
        """The path behind the token. Raises RefusedRequest 403 for a request of somebody else."""
        end = len(self._token)
        is_below = hmac.compare_digest(path[:end].encode(), self._token.encode())
        if why := self._foreign(headers) or ("" if is_below else _NOT_BELOW):
            raise RefusedRequest(403, f"this request is refused: {why}", self._named(method, path))
        return path[end:]

    def _foreign(self, headers: Mapping[str, str]) -> str:
        """What shows that the request is a web page's, or meant for another server; "" for none."""
        host, origin, site = (headers.get(name) for name in ("host", "origin", "sec-fetch-site"))
        ours = f"which is one of {self._ours}"
        if not host:
            return f"it has no Host, {ours}"
        if host.lower() not in self._hosts:
            return f"Host {told(host)!r} is not this server's, {ours}"
        if origin is not None and origin.lower() not in self._origins:
            return f"Origin {told(origin)!r} is not this server's, {ours}"
        if site is not None and site.lower() not in _OWN_SITES:
            return f"a page of another site sends it (Sec-Fetch-Site {told(site)!r})"
        return ""

    def _named(self, method: str, target: str) -> str:
        """A request as histories and terminals show it: without the token."""
        return f"{method} {told(target.replace(self._token, '', 1))}"

    def target(self, head: h11.Request, headers: Mapping[str, str]) -> str:
        """The checked target of a request that h11 has read, without scheme, host and token.

        A target with a host is checked as a Host header is. Raises RefusedRequest.
        """
        method, target = head.method.decode("ascii"), head.target.decode("latin-1")
        named = [name for name, _ in head.headers]
        request = self._named(method, target)
        if not head.http_version.startswith(b"1."):
            raise RefusedRequest(505, "this server speaks HTTP/1.1", request)
        if _head_bytes(head) > HEAD_MOST_BYTES:  # h11 has a bound for unfinished heads only
            text = f"a request head has at most {HEAD_MOST_BYTES} bytes here"
            raise RefusedRequest(431, text, request)
        if any(named.count(name) > 1 for name in _ONCE):
            raise RefusedRequest(400, "the request says twice from where or to whom it is", request)
        if b"transfer-encoding" in named and b"content-length" in named:
            text = "the request has both Content-Length and Transfer-Encoding"
            raise RefusedRequest(400, text, request)
        if target.lower().startswith(("http://", "https://")):
            scheme, _, rest = target.partition("://")
            host, slash, path = rest.partition("/")
            named_host = host if scheme.lower() == "http" else target
            target = self.path(method, slash + path, {"host": named_host})
            self.path(method, slash + path, headers)
            return target
        return self.path(method, target, headers)


_ONCE = (b"host", b"origin", b"sec-fetch-site")


def _head_bytes(head: h11.Request) -> int:
    fields = sum(len(name) + len(value) + 4 for name, value in head.headers)
    return len(head.method) + len(head.target) + fields


def told(text: str) -> str:
    """A text from outside, cut and with its unprintable characters escaped."""
    return text[:_TOLD_MOST_CHARS].encode("unicode_escape").decode("ascii")
