"""One call to a model by each HTTP library that agents are built on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

Ask = Callable[[str, dict[str, Any], dict[str, str]], bytes]
"""Posts JSON with headers to a URL; the body of the answer, as the client reads a stream."""


def by_httpx2(url: str, body: dict[str, Any], headers: dict[str, str]) -> bytes:
    """httpx2, streamed."""
    import httpx2

    with httpx2.stream("POST", url, json=body, headers=headers, trust_env=False) as answer:
        return b"".join(answer.iter_bytes())


def by_async_httpx2(url: str, body: dict[str, Any], headers: dict[str, str]) -> bytes:
    """httpx2 under asyncio."""
    import httpx2

    async def ask() -> bytes:
        async with httpx2.AsyncClient(trust_env=False) as client:
            return (await client.post(url, json=body, headers=headers)).content

    return asyncio.run(ask())


def by_httpx(url: str, body: dict[str, Any], headers: dict[str, str]) -> bytes:
    """httpx."""
    import httpx

    with httpx.Client(trust_env=False) as client:
        return client.post(url, json=body, headers=headers).content


def by_requests(url: str, body: dict[str, Any], headers: dict[str, str]) -> bytes:
    """requests, streamed."""
    import requests

    with requests.Session() as session:
        session.trust_env = False
        answer = session.post(url, json=body, headers=headers, stream=True, timeout=20)
        return b"".join(answer.iter_content(None))


def by_aiohttp(url: str, body: dict[str, Any], headers: dict[str, str]) -> bytes:
    """aiohttp, streamed."""
    import aiohttp

    async def ask() -> bytes:
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, json=body, headers=headers) as answer,
        ):
            return b"".join([piece async for piece in answer.content.iter_any()])

    return asyncio.run(ask())


CLIENTS: tuple[Ask, ...] = (by_httpx2, by_async_httpx2, by_httpx, by_requests, by_aiohttp)
