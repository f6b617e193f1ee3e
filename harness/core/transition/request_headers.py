"""The headers of a request that the history keeps, and the sets of headers that a run has seen.

A request with another header is another request: a beta less, another key, another route of a
gateway. Headers hold secrets and facts of the machine, so the history numbers the sets and keeps
only a few values.
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
        "x-trace-id",
    }
)
"""Headers that say nothing of what is asked: of the connection, or new with each try."""

_PREFIXES = ("x-b3-", "x-datadog-", "x-harness-", "x-stainless-")
"""How such headers begin that come in families, our own among them."""


class RequestHeaders:
    """The headers of one run's model requests."""

    def __init__(self, kept: tuple[str, ...]) -> None:
        self._names = kept
        self._last: dict[str, str] | None = None
        self._sets: dict[tuple[tuple[str, str], ...], int] = {}
        self.kept: dict[str, str] = {}
        """Those of the last request that the history keeps; equal ones share one dict."""
        self.number = 0
        """Which of the run's sets the last request has; the first one is 0."""

    def take(self, headers: dict[str, str]) -> None:
        """Take in the headers of a request, by names in small letters."""
        if headers == self._last:
            return
        self._last = headers
        self.kept = {name: headers[name] for name in self._names if name in headers}
        said = tuple(sorted(item for item in headers.items() if _is_said(item[0])))
        self.number = self._sets.setdefault(said, len(self._sets))


def _is_said(name: str) -> bool:
    return name not in _EACH_TRY and not name.startswith(_PREFIXES)
