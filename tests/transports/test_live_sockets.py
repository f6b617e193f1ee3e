from __future__ import annotations

import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import closing

import pytest

from harness.transports.live_sockets import live_sockets


@pytest.fixture
def port() -> Iterator[int]:
    """A port on which somebody listens."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        yield listener.getsockname()[1]


def test_a_connection_is_refused_and_kept(port: int) -> None:
    with live_sockets() as seen, pytest.raises(ConnectionRefusedError, match="opens no sockets"):
        socket.create_connection(("127.0.0.1", port))
    assert seen == [f"127.0.0.1:{port}"]


def test_a_name_is_refused_before_it_is_looked_up() -> None:
    with live_sockets() as seen, pytest.raises(OSError, match="opens no sockets"):
        urllib.request.urlopen("http://api.provider.invalid/v1")
    assert seen == ["api.provider.invalid:80"]


def test_each_address_is_kept_once_from_any_thread(port: int) -> None:
    def attempt() -> None:
        with closing(socket.socket()) as sock:
            assert sock.connect_ex(("127.0.0.1", port)) is not None

    def refused() -> None:
        with pytest.raises(ConnectionRefusedError):
            attempt()

    with live_sockets() as seen:
        threads = [threading.Thread(target=refused) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert seen == [f"127.0.0.1:{port}"]


def test_what_stays_on_the_machine_is_left_alone(tmp_path_factory: pytest.TempPathFactory) -> None:
    left, right = socket.socketpair()
    with live_sockets() as seen, left, right:
        left.sendall(b"a")
        assert right.recv(1) == b"a"
    assert seen == []


def test_outside_of_a_run_sockets_are_free(port: int) -> None:
    with live_sockets():
        pass
    with closing(socket.create_connection(("127.0.0.1", port))) as sock:
        assert sock.getpeername()[1] == port


def test_one_run_at_a_time() -> None:
    with live_sockets(), pytest.raises(RuntimeError, match="one at a time"), live_sockets():
        pass
