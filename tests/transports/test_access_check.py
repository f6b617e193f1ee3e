"""A server answers only what names this machine, and no web page: every server, one mechanism."""

from __future__ import annotations

import ast
from itertools import product
from pathlib import Path

import pytest

from harness.core.history.events import Refused
from harness.core.transition.transition import REFUSALS_MOST
from harness.transports.access_check import AccessCheck, new_token
from harness.transports.request_heads import RefusedRequest
from tests.transports.every_server import SERVERS, answer

pytestmark = pytest.mark.usefixtures("no_traceback")


FOREIGN: dict[str, dict[str, str]] = {
    "another host": {"host": "evil.example"},
    "another port": {"host": "127.0.0.1:1"},
    "no port": {"host": "127.0.0.1"},
    "a name that begins like ours": {"host": "127.0.0.1.evil.example"},
    "a page": {"origin": "https://evil.example"},
    "a page of no origin": {"origin": "null"},
    "a page of another port": {"origin": "http://localhost:1"},
    "a page that may not read the answer": {"origin": "http://evil.example",
                                            "content-type": "text/plain"},
    "a picture": {"sec-fetch-site": "cross-site", "sec-fetch-dest": "image"},
    "a picture on a page of another port": {"sec-fetch-site": "same-site"},
    "a link": {"sec-fetch-site": "Cross-Site", "sec-fetch-mode": "navigate"},
    "a site that no standard knows": {"sec-fetch-site": "x"},
    "a preflight": {"origin": "https://evil.example", "access-control-request-method": "POST"},
    "a web socket": {"origin": "https://evil.example", "upgrade": "websocket",
                     "sec-websocket-key": "eA==", "sec-websocket-version": "13"},
}  # fmt: skip


@pytest.mark.parametrize("foreign", FOREIGN)
@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("connection", ["keep-alive", "close"])  # plain heads, and those of h11
def test_a_foreign_request_is_refused_and_on_record(
    name: str, foreign: str, connection: str
) -> None:
    with SERVERS[name]() as server:
        refused = answer(server, server.request(connection=connection, **FOREIGN[foreign]))
        before = [e for e in (server.history.events if server.history else []) if e.n > 1]
        good = answer(server, server.request())
    assert refused.startswith(b"HTTP/1.1 403 "), refused
    assert b"this request is refused: " in refused
    assert good.startswith(b"HTTP/1.1 20"), good
    assert len(server.asked) == (name == "recording")
    if server.history is not None:
        (event,) = before
        assert isinstance(event, Refused)
        assert (event.status, event.text in refused.decode()) == (403, True)
        assert event.request.startswith(f"{server.method} /")


TOKENS = ("", "/lhr_0", "/" + new_token(), "/s/main", "//")
METHODS = ("GET", "POST", "OPTIONS", "HEAD")


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("connection", ["keep-alive", "close"])
def test_a_request_without_the_token_is_refused_and_takes_nothing(
    name: str, connection: str
) -> None:
    """A picture on a web page, in a browser that says nothing of where it stands."""
    with SERVERS[name]() as server:
        for method, token in product(METHODS, TOKENS):
            guessed = server._replace(method=method, path=token + server.behind_token)
            refused = answer(server, guessed.request(connection=connection))
            assert refused.startswith(b"HTTP/1.1 403 "), refused
            assert server.path.split("/")[1].encode() not in refused
        before = [e for e in (server.history.events if server.history else []) if e.n > 1]
        good = answer(server, server.request())
    assert good.startswith(b"HTTP/1.1 20"), good
    assert len(server.asked) == (name == "recording")
    assert all(isinstance(event, Refused) and event.status == 403 for event in before)
    assert server.path.split("/")[1] not in repr(server.history.events if server.history else "")


def test_each_server_has_its_own_token() -> None:
    with SERVERS["inbox"]() as one, SERVERS["inbox"]() as other:
        assert one.path.split("/")[1] != other.path.split("/")[1]


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_what_a_browser_asks_for_its_user_is_answered(name: str, site: str) -> None:
    with SERVERS[name]() as server:
        said = answer(server, server.request(**{"sec-fetch-site": site}))
    assert said.startswith(b"HTTP/1.1 20"), said


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("host", ["localhost", "LocalHost", "127.0.0.1", "[::1]"])
def test_each_name_of_this_machine_is_ours(name: str, host: str) -> None:
    with SERVERS[name]() as server:
        ours = f"{host}:{server.port}"
        said = answer(server, server.request(host=ours, origin=f"http://{ours}"))
    assert said.startswith(b"HTTP/1.1 20"), said


@pytest.mark.parametrize("name", ["model", "recording"])
@pytest.mark.parametrize(
    ("line", "headers", "status"),
    [
        ("{method} http://evil.example{path} HTTP/1.1", "", b"403"),
        ("{method} http://evil.example:{port}{path} HTTP/1.1", "", b"403"),
        ("{method} https://127.0.0.1:{port}{path} HTTP/1.1", "", b"403"),
        ("{method} http://127.0.0.1:{port}{path} HTTP/1.1", "", b"200"),
        ("{method} {path} HTTP/1.1", "transfer-encoding: chunked\r\n", b"400"),
        ("{method} {path} HTTP/1.1", "host: evil.example\r\n", b"400"),
        ("{method} {path} HTTP/1.1", "origin: http://x\r\norigin: {ours}\r\n", b"400"),
    ],
)
def test_neither_a_whole_url_nor_a_second_header_passes_by(
    name: str, line: str, headers: str, status: bytes
) -> None:
    with SERVERS[name]() as server:
        first, _, rest = server.request().partition(b"\r\n")
        fields = {"method": server.method, "path": server.path, "port": server.port}
        ours = f"http://127.0.0.1:{server.port}"
        said = line.format(**fields) + "\r\n" + headers.format(ours=ours)
        heard = answer(server, said.encode() + rest)
    assert first
    assert heard.startswith(b"HTTP/1.1 " + status), heard


def test_a_request_without_a_host_is_refused() -> None:
    with SERVERS["model"]() as server:
        old = server.request(host="").replace(b"HTTP/1.1", b"HTTP/1.0")
        assert answer(server, old).startswith(b"HTTP/1.1 403 ")


def test_a_port_that_urls_leave_out_may_be_left_out() -> None:
    headers = {"host": "localhost", "origin": "http://127.0.0.1"}
    assert AccessCheck(80, "t").path("GET", "/t/x", headers) == "/x"
    with pytest.raises(RefusedRequest):
        AccessCheck(81, "t").path("GET", "/t/x", headers)


def test_a_history_keeps_the_first_refusals() -> None:
    with SERVERS["inbox"]() as server:
        for _ in range(REFUSALS_MOST + 5):
            answer(server, server.request(host="evil.example"))
    assert server.history is not None
    assert sum(isinstance(e, Refused) for e in server.history.events) == REFUSALS_MOST


def test_no_server_is_left_out() -> None:
    """Each module that creates a `Server` is covered by these tests."""
    makers = set()
    for path in Path(__file__).parents[2].glob("harness/**/*.py"):
        for owner in ast.parse(path.read_text("utf-8")).body:
            if isinstance(owner, (ast.ClassDef, ast.FunctionDef)) and _makes_a_server(owner):
                makers.add(owner.name)
    walked = set()
    for opened in SERVERS.values():
        with opened() as server:
            walked.add(server.class_name)
    assert makers == walked


def _makes_a_server(owner: ast.AST) -> bool:
    calls = (node.func for node in ast.walk(owner) if isinstance(node, ast.Call))
    return any(isinstance(name, ast.Name) and name.id == "Server" for name in calls)
