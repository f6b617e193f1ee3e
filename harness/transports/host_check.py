"""Whose requests a server of ours answers: those for this machine, and of no web page.

A web page may send requests to a loopback port, and may give its own host name the address of this
machine (DNS rebinding). Its requests show either a foreign Host or a foreign Origin.
"""

from __future__ import annotations

from collections.abc import Mapping

import h11

from harness.transports.request_heads import HEAD_MOST_BYTES, RefusedRequest

_NAMES = ("localhost", "127.0.0.1", "[::1]")
_HTTP_PORT = 80
_TOLD_MOST_CHARS = 100


class HostCheck:
    """The check of one port."""

    def __init__(self, port: int) -> None:
        bare = _NAMES if port == _HTTP_PORT else ()
        self._hosts = frozenset((*(f"{name}:{port}" for name in _NAMES), *bare))
        self._origins = frozenset(f"http://{host}" for host in self._hosts)
        self._ours = ", ".join(f"{name}:{port}" for name in _NAMES)

    def check(self, method: str, path: str, headers: Mapping[str, str]) -> None:
        """Raise RefusedRequest 403 unless the Host is ours and the Origin is absent or ours."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if host.lower() not in self._hosts:
            why = f"Host {told(host)!r} is not this server's" if host else "it has no Host"
        elif origin is not None and origin.lower() not in self._origins:
            why = f"Origin {told(origin)!r} is not this server's"
        else:
            return
        text = f"this request is refused: {why}, which is one of {self._ours}"
        raise RefusedRequest(403, text, f"{method} {told(path)}")

    def target(self, head: h11.Request, headers: Mapping[str, str]) -> str:
        """The checked target of a request that h11 has read, without scheme and host.

        A target with a host is checked as a Host header is. Raises RefusedRequest.
        """
        method, target = head.method.decode("ascii"), head.target.decode("latin-1")
        named = [name for name, _ in head.headers]
        request = f"{method} {told(target)}"
        if not head.http_version.startswith(b"1."):
            raise RefusedRequest(505, "this server speaks HTTP/1.1", request)
        if _head_bytes(head) > HEAD_MOST_BYTES:  # h11 has a bound for unfinished heads only
            text = f"a request head has at most {HEAD_MOST_BYTES} bytes here"
            raise RefusedRequest(431, text, request)
        if named.count(b"host") > 1 or named.count(b"origin") > 1:
            raise RefusedRequest(400, "the request has two Hosts or two Origins", request)
        if b"transfer-encoding" in named and b"content-length" in named:
            text = "the request has both Content-Length and Transfer-Encoding"
            raise RefusedRequest(400, text, request)
        self.check(method, target, headers)
        if target.lower().startswith(("http://", "https://")):
            scheme, _, rest = target.partition("://")
            host, slash, path = rest.partition("/")
            self.check(method, target, {"host": host if scheme.lower() == "http" else target})
            return slash + path or "/"
        return target


def _head_bytes(head: h11.Request) -> int:
    fields = sum(len(name) + len(value) + 4 for name, value in head.headers)
    return len(head.method) + len(head.target) + fields


def told(text: str) -> str:
    """A text from outside, cut and with its unprintable characters escaped."""
    return text[:_TOLD_MOST_CHARS].encode("unicode_escape").decode("ascii")
