"""A whole response is the one that the library would have made itself."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import httpx
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.plans import Head
from harness.transports.httpx_transport import whole_response

names = st.sampled_from(
    [
        "content-type",
        "Request-Id",
        "Content-Length",
        "content-length",
        "content-encoding",
        "Transfer-Encoding",
        "X-Content-Length",
    ]
)
values = st.sampled_from(["identity", "3", "chunked", "text/plain; charset=latin-1", "unheard-of"])
_OWN = ("_decoder", "extensions", "headers", "stream")
"""What only the library's own transports, or its own reading of a body, leave in a response."""
heads = st.builds(Head, st.sampled_from([200, 204, 413, 599]), st.dictionaries(names, values))


@pytest.mark.parametrize("library", [httpx2, httpx])
@given(heads, st.binary(max_size=5) | st.just(b'{"a": "\xc3\xa4"}'))
def test_it_is_the_response_of_the_library(library: ModuleType, head: Head, body: bytes) -> None:
    wanted = library.Response(head.status, headers=head.headers, content=body)
    assert _seen(library, whole_response(library, head, body)) == _seen(library, wanted)


def test_a_library_that_keeps_bodies_elsewhere_makes_the_response_itself() -> None:
    class Response(httpx2.Response):
        def read(self) -> bytes:
            self._elsewhere = super().read()
            del self._content
            return self._elsewhere

    library: Any = ModuleType("other")
    library.Response, library.ByteStream = Response, httpx2.ByteStream
    assert not hasattr(whole_response(library, Head(200, {}), b"body"), "_content")


def _seen(library: Any, response: Any) -> dict[str, Any]:
    """All that a client can see of a response."""
    state = {k: v for k, v in vars(response).items() if k not in _OWN}
    with pytest.raises(library.StreamConsumed):
        next(response.iter_raw())
    return {
        **state,
        "headers": response.headers.raw,
        "encoding": response.headers.encoding,
        "line": (response.http_version, response.status_code, response.reason_phrase),
        "read": response.read(),
        "bytes": list(response.iter_bytes(2)),
        "text": response.text,
        "lines": list(response.iter_lines()),
        "downloaded": response.num_bytes_downloaded,
        "sent": list(response.stream),
        "pickled": response.__getstate__().keys() - {"_decoder"},
    }
