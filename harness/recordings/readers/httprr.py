"""Traces of httprr, the recorder of Go's tests: requests and answers as they crossed the wire.

Below its first line a trace holds, for each exchange, a line with two sizes in bytes, a request and
an answer of these sizes. Answers of HTTP/2 are written with the first line of HTTP/1. Source:
golang.org/x/oscar, internal/httprr.
"""

from __future__ import annotations

import re

from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.recordings import model_exchange
from harness.recordings.recording_format import recognised_by
from harness.recordings.transcripts import Recording

_OPENING = b"httprr trace v1\n"
_SIZES = re.compile(rb"(\d{1,12}) (\d{1,12})\n")
_HEAD = re.compile(rb"\r?\n\r?\n")
_CHUNK = re.compile(rb"([0-9a-fA-F]{1,8})[^\r\n]{0,200}\r\n")


def is_httprr(data: bytes) -> bool:
    """Whether the bytes are a trace."""
    return data.startswith(_OPENING)


@recognised_by(is_httprr)
def httprr(document: bytes) -> Recording:
    """httprr trace.

    Raises InputError, with the place, for a trace that is torn.
    """
    return model_exchange.recording(exchanges(document))


def exchanges(trace: bytes) -> list[dict[str, Json]]:
    """The exchanges of a trace in VCR's keys; raises InputError for a torn one."""
    if not is_httprr(trace):
        raise InputError("no trace of httprr", "line 1")
    found: list[dict[str, Json]] = []
    at = len(_OPENING)
    while at < len(trace):
        sizes = _SIZES.match(trace, at)
        begin = sizes.end() if sizes else at
        middle = begin + int(sizes[1]) if sizes else at
        end = middle + int(sizes[2]) if sizes else len(trace) + 1
        if end > len(trace):
            raise InputError("the trace is torn", f"exchange {len(found) + 1}")
        found.append(_exchange(trace[begin:middle], trace[middle:end]))
        at = end
    return found


def _exchange(request: bytes, answer: bytes) -> dict[str, Json]:
    method, url, _ = _first_line(request)
    _, status, words = _first_line(answer)
    code = int(status) if status.isdecimal() else None
    return {
        "request": {"method": method, "uri": url, **_part(request)},
        "response": {"status": {"code": code, "message": words}, **_part(answer)},
    }


def _first_line(part: bytes) -> tuple[str, str, str]:
    words = part.partition(b"\n")[0].decode("utf-8", "replace").split(maxsplit=2)
    first, second, third, *_ = [*words, "", "", ""]
    return first, second, third.strip()


def _part(part: bytes) -> dict[str, Json]:
    gap = _HEAD.search(part)
    head, body = (part[: gap.start()], part[gap.end() :]) if gap else (part, b"")
    headers: dict[str, Json] = {}
    for line in head.decode("utf-8", "replace").splitlines()[1:]:
        name, _, value = line.partition(":")
        headers.setdefault(name.lower(), []).append(value.strip())
    chunked = "chunked" in headers.pop("transfer-encoding", ())
    return {"headers": headers, "body": _joined(body) if chunked else body}


def _joined(body: bytes) -> bytes:
    """The chunks of a body, joined; anything else ends it."""
    said, at = bytearray(), 0
    while (size := _CHUNK.match(body, at)) and int(size[1], 16):
        end = size.end() + int(size[1], 16)
        said += body[size.end() : end]
        at = end + len(b"\r\n")
    return bytes(said)
