"""The attack on every kind of server: raw HTTP, garbage, connections, bodies.

`python -m tests.hardening.attack` plays all of it, and prints a row for each server.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

from harness.transports.http_connection import BODIES_MOST_BYTES
from tests.hardening.raw_attacks import ATTACKS, Attack
from tests.transports.every_server import SERVERS, OpenServer, answer

ANSWER_S = 20.0
GARBAGE, CONNECTIONS, BODIES, BODY_BYTES = 10_000, 1_000, 12, 59 << 20
GROWN_MOST_MB = 3 * BODIES_MOST_BYTES >> 20
"""What a process may grow by: the bodies of a server twice over, and the whole of one more."""


class Failed(Exception):
    """An attack had an effect; the text says which."""


def raw(server: OpenServer, attack: Attack) -> int:
    """Play one attack: the status of the first answer, 0 without one. Raises Failed."""
    said = exchanged(server, attack.data(server), ends=attack.ends)
    status = int(said[9:12]) if said.startswith(b"HTTP/1.1 ") else 0
    if status not in attack.statuses:
        raise Failed(f"{attack.name}: {status}, not {sorted(attack.statuses)}: {said[:200]!r}")
    if status >= 400 and len(said.partition(b"\r\n\r\n")[2]) < 10:
        raise Failed(f"{attack.name}: {status} without a sentence")
    return status


def exchanged(server: OpenServer, data: bytes, *, ends: bool) -> bytes:
    """The first that a server says to these bytes. Raises Failed when it says nothing in time."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=ANSWER_S) as sock:
        try:
            sock.sendall(data)
            if ends:
                sock.shutdown(socket.SHUT_WR)
            said = sock.recv(1 << 16)
            while said and b"\r\n\r\n" not in said and (more := sock.recv(1 << 16)):
                said += more
            head = said.lower()
            bodiless = head.startswith(b"http/1.1 204 ") or b"\r\ncontent-length: 0\r\n" in head
            while not bodiless and said.endswith(b"\r\n\r\n") and (more := sock.recv(1 << 16)):
                said += more
            return said
        except TimeoutError:
            raise Failed(f"no answer in {ANSWER_S} s to {data[:80]!r}") from None
        except ConnectionError:
            return b""


def garbage(server: OpenServer, count: int, seed: int) -> None:
    """Send requests with bytes changed, cut, repeated and mixed; half of the clients leave at once.

    Raises Failed when an answer does not come.
    """
    draw = random.Random(seed)
    seeds = [server.request(connection=""), *(attack.data(server) for attack in ATTACKS)]
    seeds = [data for data in seeds if len(data) < 4096]
    for _ in range(count):
        data = changed(draw, draw.choice(seeds), draw.choice(seeds))
        is_whole = draw.random() < 0.5
        try:
            with socket.create_connection(("127.0.0.1", server.port), timeout=ANSWER_S) as sock:
                sock.sendall(data)
                if is_whole:
                    sock.shutdown(socket.SHUT_WR)
                    sock.recv(1 << 16)
        except TimeoutError:
            raise Failed(f"no answer within {ANSWER_S} s to {data!r}") from None
        except OSError:  # the server has closed the connection
            continue


def changed(draw: random.Random, data: bytes, other: bytes) -> bytes:
    """The bytes with one to four changes."""
    made = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(made) + 1)
        match draw.randrange(5):
            case 0:
                made[at : at + draw.randint(0, 3)] = draw.randbytes(draw.randint(0, 3))
            case 1:
                del made[at:]
            case 2:
                made[at:at] = other[: draw.randrange(len(other) + 1)]
            case 3:
                made[at:at] = draw.choice([b"\r\n", b"\n", b"\r", b"\x00", b":", b" ", b"\xff"])
            case _:
                made += made[:at]
    return bytes(made[: 1 << 16])


def connections(server: OpenServer, count: int) -> None:
    """Open a number of connections at once, a third of them with half a request, then ask on a new
    one."""
    with contextlib.ExitStack() as stack:
        for number in range(count):
            sock = socket.create_connection(("127.0.0.1", server.port), timeout=ANSWER_S)
            stack.callback(sock.close)
            if number % 3 == 0:
                sock.sendall(server.request()[: 10 + number % 90])
        good(server, "beside open connections")


def bodies(server: OpenServer, count: int, size_bytes: int) -> None:
    """Leave a number of bodies open, each without its last byte, then ask on a new connection."""
    length = {"content-length": str(size_bytes)}
    head = server.request(connection="", **length).partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            sock = socket.create_connection(("127.0.0.1", server.port), timeout=ANSWER_S)
            stack.callback(sock.close)
            with contextlib.suppress(OSError):  # refused, and gone
                sock.sendall(head)
                for _ in range((size_bytes - 1) >> 20):
                    sock.sendall(b" " * (1 << 20))
        good(server, "beside open bodies")


def good(server: OpenServer, when: str) -> None:
    """Ask the good request. Raises Failed when it is not answered."""
    said = answer(server, server.request())
    if not said.startswith(b"HTTP/1.1 20"):
        raise Failed(f"a good request {when}: {said[:200]!r}")


@contextlib.contextmanager
def no_traceback() -> Iterator[None]:
    """In this block no thread may end by an exception."""
    seen: list[Any] = []
    before, threading.excepthook = threading.excepthook, seen.append
    try:
        yield
    finally:
        threading.excepthook = before
    if seen:
        raise Failed(f"a thread of a server ended: {seen[0].exc_value!r}")


def most_mb() -> int:
    """The most memory that this process has had."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size >> (20 if sys.platform == "darwin" else 10)


def attacked(
    name: str, *, garbage_count: int, connection_count: int, large: bool, seed: int
) -> str:
    """Attack a kind of server; the row of the table. Raises Failed."""
    before = most_mb()
    with no_traceback(), SERVERS[name]() as server:
        for attack in ATTACKS:
            raw(server, attack)
            good(server, f"after {attack.name}")
        garbage(server, garbage_count, seed)
        good(server, "after garbage")
        connections(server, connection_count)
        if large:
            bodies(server, BODIES, BODY_BYTES)
        good(server, "in the end")
    grown = most_mb() - before
    if grown > GROWN_MOST_MB:
        raise Failed(f"{name}: the process grew by {grown} MB, more than {GROWN_MOST_MB}")
    many = f"{len(ATTACKS)} | {garbage_count:,} | {connection_count:,}"
    return f"| {name} | {many} | {BODIES if large else 0} | {grown} MB |"


def main() -> int:
    """Attack every kind of server; exit status 1 when an attack had an effect."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--garbage", type=int, default=GARBAGE)
    parser.add_argument("--connections", type=int, default=CONNECTIONS)
    parser.add_argument("servers", nargs="*", default=list(SERVERS))
    asked = parser.parse_args()
    if len(asked.servers) == 1:
        return _row(asked.servers[0], asked)
    print("| server | raw | garbage | connections | bodies of 59 MB | grown by |")
    print("|---|---|---|---|---|---|", flush=True)
    words = [sys.executable, "-m", "tests.hardening.attack", "--seed", str(asked.seed),
             "--garbage", str(asked.garbage), "--connections", str(asked.connections)]  # fmt: skip
    done = [subprocess.run([*words, name]).returncode for name in asked.servers]
    return max(done)


def _row(name: str, asked: argparse.Namespace) -> int:
    """Attack one kind of server, in its own process for its memory; print the row."""
    counts = {"garbage_count": asked.garbage, "connection_count": asked.connections}
    try:
        print(attacked(name, **counts, large=True, seed=asked.seed), flush=True)
    except Failed as error:
        print(f"| {name} | failed: {error} |", flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
