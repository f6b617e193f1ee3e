"""The smallest HTTP server that a socket allows: the yardstick for the loopback door.

It reads a request by its content length and sends the same bytes to each; nothing else.
"""

from __future__ import annotations

import socket
import threading


def serve(listener: socket.socket, answer: bytes) -> None:
    """The smallest server: read a request by its content length, send the answer, again."""
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_converse, args=(connection, answer), daemon=True).start()


def _converse(connection: socket.socket, answer: bytes) -> None:
    data = b""
    while chunk := connection.recv(1 << 16):
        data += chunk
        head, found, rest = data.partition(b"\r\n\r\n")
        if found:
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            while len(rest) < length:
                rest += connection.recv(1 << 16)
            data = rest[length:]
            connection.sendall(answer)
