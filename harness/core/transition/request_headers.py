"""The headers of a run's model requests, as the history names them.

Two requests with different headers are different (one beta less, another key, another route).
Headers hold secrets and facts about the machine, so the history numbers the sets of headers and
keeps only a few values.
"""

from __future__ import annotations

_EACH_TRY = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "baggage",
        "cf-ray",
        "connection",
        "content-encoding",
        "content-length",
        "cookie",
        "date",
        "host",
        "idempotency-key",
        "if-modified-since",
        "keep-alive",
        "request-id",
        "sentry-trace",
        "traceparent",
        "tracestate",
        "transfer-encoding",
        "user-agent",
        "via",
        "x-amzn-trace-id",
        "x-client-request-id",
        "x-cloud-trace-context",
        "x-correlation-id",
        "x-forwarded-for",
        "x-request-id",
        "x-request-start",
        "x-amz-date",
        "x-amz-security-token",
        "x-trace-id",
    }
)
"""Headers that do not belong to the content of a request: about the connection, or new with each
attempt."""

_PREFIXES = ("x-b3-", "x-datadog-", "x-harness-", "x-stainless-")
"""The prefixes of such headers, the harness's own among them."""


class RequestHeaders:
    """The headers of one run's model requests."""

    def __init__(self, kept: tuple[str, ...]) -> None:
        self._names = kept
        self.last: dict[str, str] | None = None
        """The headers of the last request; who has the same dict again need not hand it in."""
        self._sets: dict[tuple[tuple[str, str], ...], int] = {}
        self.kept: dict[str, str] = {}
        """The headers of the last request that the history keeps; equal headers share one dict."""
        self.number = 0
        """The number of the last request's header set; the first set is 0."""

    def take(self, headers: dict[str, str]) -> None:
        """Record the headers of a request, by lower-case name."""
        if headers == self.last:
            return
        self.last = headers
        self.kept = {name: headers[name] for name in self._names if name in headers}
        said = tuple(sorted(item for item in headers.items() if _is_said(*item)))
        self.number = self._sets.setdefault(said, len(self._sets))


_SIGNED = "AWS4-"
"""The beginning of an authorization that signs one request, so that it is new with each attempt."""


def _is_said(name: str, value: str) -> bool:
    if name == "authorization" and value.startswith(_SIGNED):
        return False
    return name not in _EACH_TRY and not name.startswith(_PREFIXES)
