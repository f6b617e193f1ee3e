"""The rows asked of the installed SDKs, through both transports."""

from __future__ import annotations

import math
from importlib.metadata import version
from typing import Any

from tests.faults.asking import SDK, Met, TransportName, ask
from tests.wire_table.row import Row

Measured = dict[str, str]
"""What surfaced, by transport."""


def measured(row: Row) -> Measured:
    """What surfaces from the installed SDK, transport by transport.

    Raises AssertionError where the fault did not fire.
    """
    return {transport: _surfaced(row, transport) for transport in row.transports}


def versions() -> dict[str, str]:
    """The installed SDKs that the rows are asked of."""
    return {package: version(package) for package in sorted(set(SDK.values()))}


def package_of(row: Row) -> str:
    """The SDK that a row is asked of."""
    return SDK[row.wire]


def _surfaced(row: Row, transport: TransportName) -> str:
    met = ask(
        row.kind,
        row.settings,
        wire=row.wire,
        stream=row.how in ("stream", "raw"),
        helper=row.how != "raw",
        turn=row.turn,
        transport=transport,
        tools={},
        timeout_s=row.timeout_s,
        retries=2 if row.how == "retries" else 0,
    )
    assert met.fired or not row.kind, f"{row.what}: {row.kind} did not fire"
    return f"{_tries(met)}: {_said(met)}" if row.how == "retries" else _said(met)


def _tries(met: Met) -> str:
    """How many requests there were, and the waits between them; jitter is rounded away."""
    if met.requests == 1:
        return "1 request"
    waits = ", ".join(f"{math.ceil(wait * 2) / 2:g}" for wait in met.waits_s)
    return f"{met.requests} requests, waits of {waits} s"


def _said(met: Met) -> str:
    if met.error is not None:
        return _class_of(met.error)
    if isinstance(met.message, str):
        return "a str"
    _, mark, last = met.words.partition(" events, ")
    return last if mark else met.words


def _class_of(error: BaseException) -> str:
    """An exception by its class, its status and its type: what a program can go by."""
    package = type(error).__module__.partition(".")[0]
    name = type(error).__name__ if package == "builtins" else f"{package}.{type(error).__name__}"
    facts: list[Any] = [getattr(error, "status_code", None), getattr(error, "type", None)]
    known = ", ".join(str(fact) for fact in facts if fact is not None)
    return f"{name}({known})" if known else name
