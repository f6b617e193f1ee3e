"""The HTTP library of a transport over loopback: the newer one, else the older."""

from __future__ import annotations

import sys

import httpx
import httpx2
import pytest

from harness.transports.sdk_clients import http_library


def test_the_newer_library_is_taken_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert http_library() is httpx2
    monkeypatch.setitem(sys.modules, "httpx2", None)
    assert http_library() is httpx
