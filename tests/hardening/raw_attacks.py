"""Raw HTTP that no client sends: a row an attack, with the statuses that are right for it.

`good` is a good request without `connection: close`; `head` and `body` are its parts. Status 0 is a
connection that ends without an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tests.transports.every_server import OpenServer


class Attack(NamedTuple):
    """What is sent, and which statuses may come first; `ends` when the client half-closes."""

    name: str
    data: Callable[[OpenServer], bytes]
    statuses: frozenset[int]
    ends: bool = False


def _headers(server: OpenServer, **headers: str) -> bytes:
    """The good request with other headers, its body as it was."""
    return server.request(connection="", **headers)


def _headers_of(**headers: str) -> Callable[[OpenServer], bytes]:
    return lambda server: _headers(server, **headers)


def _with(line: bytes) -> Callable[[OpenServer], bytes]:
    """The good request with a line more in its head."""
    return lambda server: server.request(connection="").replace(
        b"\r\n", b"\r\n" + line + b"\r\n", 1
    )


def _chunked(body: bytes, **more: str) -> Callable[[OpenServer], bytes]:
    def data(server: OpenServer) -> bytes:
        framed = _headers(server, **{"content-length": "", "transfer-encoding": "chunked", **more})
        return framed.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" + body

    return data


def _length(value: str) -> Callable[[OpenServer], bytes]:
    return lambda server: _headers(server, **{"content-length": value})


def _line(first: str) -> Callable[[OpenServer], bytes]:
    """The good request behind another request line."""

    def data(server: OpenServer) -> bytes:
        rest = server.request(connection="").partition(b"\r\n")[2]
        fields = {"method": server.method, "path": server.path, "port": server.port}
        return first.format(**fields).encode("latin-1") + b"\r\n" + rest

    return data


OK = frozenset({200, 202, 204, 400})  # 400: of the seam itself, for a method or body it refuses
BAD, FORBIDDEN, NONE = frozenset({400}), frozenset({403}), frozenset({0, 400})
LARGE = frozenset({400, 413, 431})
ODD, OTHER = frozenset({400, 404, 405, 501}), frozenset({505})
SMUGGLED = b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: evil\r\n\r\n"

_EVIL = "https://evil.example"


def _guessed(**headers: str) -> Callable[[OpenServer], bytes]:
    """The request that a web page can send: it knows the port and the path, and no token."""
    return lambda server: server._replace(path=server.behind_token).request(
        connection="", **headers
    )


ATTACKS: tuple[Attack, ...] = (
    Attack("length and chunks", _with(b"transfer-encoding: chunked"), BAD),
    Attack("chunks, and a length of a smuggled request", _chunked(SMUGGLED, **{
        "content-length": "6"}), BAD),
    Attack("two lengths", _with(b"content-length: 1"), BAD),
    Attack("two equal lengths", lambda d: d.request(connection="").replace(
        b"\r\n", b"\r\ncontent-length: %d\r\n" % len(d.body), 1), OK),
    Attack("a list of lengths", _length("3, 4"), BAD),
    Attack("a negative length", _length("-1"), BAD),
    Attack("a length with a plus", _length("+3"), BAD),
    Attack("a length in hexadecimal", _length("0x10"), BAD),
    Attack("a length of 20 digits", _length("9" * 20), LARGE),
    Attack("a length of 5,000 digits", _length("9" * 5000), LARGE),
    Attack("a length of other digits", _length("\xb2"), BAD),
    Attack("a length that is too long, and the end", _length("99999"), BAD, ends=True),
    Attack("a chunk size that is not a number", _chunked(b"zz\r\nabc\r\n0\r\n\r\n"), BAD),
    Attack("a negative chunk size", _chunked(b"-3\r\nabc\r\n0\r\n\r\n"), BAD),
    Attack("a chunk size of 5,000 digits", _chunked(b"f" * 5000 + b"\r\n"), BAD),
    Attack("a chunk of a petabyte", _chunked(b"3ffffffffffff\r\nabc", ), NONE, ends=True),
    Attack("a chunk longer than its size", _chunked(b"1\r\nabc\r\n0\r\n\r\n"), BAD),
    Attack("an extension of 70 kB", _chunked(b"3;" + b"x" * 70_000 + b"\r\nabc"), LARGE,
           ends=True),
    Attack("trailers of 70 kB", _chunked(b"0\r\nx: " + b"y" * 70_000), LARGE),
    Attack("chunked twice", _chunked(SMUGGLED, **{"transfer-encoding": "chunked, chunked"}),
           frozenset({400, 501})),
    Attack("an unknown transfer coding", _chunked(SMUGGLED, **{"transfer-encoding": "gzip"}),
           frozenset({400, 501})),
    Attack("a head of 70 kB", _with(b"x: " + b"y" * 70_000), LARGE),
    Attack("a path of 70 kB", _line("{method} /" + "x" * 70_000 + " HTTP/1.1"), LARGE),
    Attack("20,000 headers", _with(b"\r\n".join(b"x%d: y" % n for n in range(20_000))), LARGE),
    Attack("a bare CR in a value", _with(b"x: a\rb: c"), BAD),
    Attack("a NUL in a value", _with(b"x: a\x00b"), BAD),
    Attack("a NUL in the path", _line("{method} {path}\x00 HTTP/1.1"), BAD),
    Attack("a folded header", _with(b"x: a\r\n b"), OK),
    Attack("a folded host", _with(b"host: evil\r\n .example"), BAD),
    Attack("a space before the colon", _with(b"x : y"), BAD),
    Attack("a header without a name", _with(b": y"), BAD),
    Attack("a second host", _with(b"host: evil.example"), BAD),
    Attack("the URL of another host", _line("{method} http://evil.example{path} HTTP/1.1"),
           FORBIDDEN),
    Attack("our own URL", _line("{method} http://127.0.0.1:{port}{path} HTTP/1.1"), OK),
    Attack("CONNECT", _line("CONNECT evil.example:443 HTTP/1.1"), ODD | FORBIDDEN),
    Attack("OPTIONS *", _line("OPTIONS * HTTP/1.1"), ODD | FORBIDDEN),
    Attack("a version of 9.9", _line("{method} {path} HTTP/9.9"), OTHER),
    Attack("HTTP/2", lambda d: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", OTHER),
    Attack("TLS", lambda d: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), BAD),
    Attack("half a request, and the end", lambda d: d.request(connection="")[:20], NONE, ends=True),
    Attack("a picture on a page", _headers_of(**{"sec-fetch-site": "cross-site"}), FORBIDDEN),
    Attack("a picture in an old browser", _guessed(), FORBIDDEN),
    Attack("a form of text", _guessed(**{"content-type": "text/plain", "origin": "null"}),
           FORBIDDEN),
    Attack("a preflight", lambda d: d._replace(method="OPTIONS").request(connection="", **{
        "origin": _EVIL, "access-control-request-method": "POST"}), FORBIDDEN),
    Attack("a web socket", _headers_of(origin=_EVIL, upgrade="websocket"), FORBIDDEN),
    Attack("a name that was bound anew", _headers_of(host="evil.example"), FORBIDDEN),
    Attack("200 requests at once, and the end", lambda d: d.request(connection="") * 200, OK,
           ends=True),
)  # fmt: skip
"""The 47 attacks."""
