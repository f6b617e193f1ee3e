"""What asking a model has in common, whichever API it is behind: the client, and what goes wrong.

The SDKs of both providers come from one generator, so time-outs and retries are set alike; how an
error is told apart is each API's own, and is handed in as `kind_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from harness.agent.failures import FailureKind, ModelFailure

KindOf: TypeAlias = Callable[[Exception], FailureKind | None]
"""The kind of failure that an error is; None for one that is no failure of the model."""


@contextmanager
def failures(kind_of: KindOf) -> Iterator[None]:
    """Raise whatever the SDK, the HTTP library or odd bytes raise as a ModelFailure."""
    try:
        yield
    except ModelFailure:
        raise
    except Exception as error:
        kind = kind_of(error)
        if kind is None:
            raise
        raise ModelFailure(kind, str(error) or type(error).__name__) from error


def client_for(client: Any, timeout_s: float | None) -> Any:
    """The SDK's client; with a time-out its own retries would wait that long each."""
    if timeout_s is None:
        return client
    return client.with_options(timeout=timeout_s, max_retries=0)


def unbroken(stream: Any, kind_of: KindOf) -> Iterator[Any]:
    """The pieces of a stream. A connection that fails by now fails in the middle of an answer.

    Raises ModelFailure.
    """
    try:
        yield from stream
    except Exception as error:
        if kind_of(error) != "transient":
            raise
        raise ModelFailure("broken_stream", str(error) or type(error).__name__) from error
