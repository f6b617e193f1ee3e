"""The standard library's HTTP server with the same answer: what most test doubles are made of."""

from __future__ import annotations

import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def serve(listener: socket.socket, answer: bytes) -> None:
    """Serve the answer's body, with its status and headers, to every POST."""
    head, _, body = answer.partition(b"\r\n\r\n")
    headers = [line.decode().split(": ", 1) for line in head.split(b"\r\n")[1:]]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            for name, value in headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(listener.getsockname(), Handler, bind_and_activate=False) as server:
        server.socket.close()
        server.socket = listener
        server.serve_forever()
