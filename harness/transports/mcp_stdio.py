"""Tools over MCP on standard input and output: `python -m harness.transports.mcp_stdio`.

For agents that start their own tool servers. It is a client of the run at `HARNESS_TOOLS_URL`. A
start-up error is a line on standard error and exit status 2.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import sys
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import quote

import msgspec

from harness.core.scenario.scenario import ToolScript
from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.core.values.plans import ToolAnswer
from harness.core.values.visible_text import visible
from harness.transports.mcp_tools import tool_server

URL = "HARNESS_TOOLS_URL"


def main() -> int:
    """Serve until standard input ends."""
    url = os.environ.get(URL, "")
    try:
        if not url.startswith("http://"):
            raise InputError("names no run; start this from an agent under test", URL)
        server = tool_server(_offered(url), _Calls(url), lambda: _tell_list(url))
    except InputError as error:
        print(visible(f"error: {error}"), file=sys.stderr)
        return 2
    asyncio.run(serve(server))
    return 0


async def serve(server: Any) -> None:
    """Answer a client on standard input and output until it goes."""
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _offered(url: str) -> dict[str, ToolScript]:
    try:
        with urllib.request.urlopen(url) as answer:
            rows = msgspec.json.decode(answer.read())
    except OSError as error:
        raise InputError(f"no run answers at {url}: {error}", URL) from None
    return {
        row["name"]: ToolScript(description=row["description"], input_schema=row["input_schema"])
        for row in rows
    }


def _tell_list(url: str) -> None:
    """Say that the agent has its tools: a driver waits for that before its first message."""
    listed = urllib.request.Request(f"{url.removesuffix('tools')}mcp/listed", method="POST")
    with contextlib.suppress(OSError), urllib.request.urlopen(listed):
        return


class _Calls:
    def __init__(self, url: str) -> None:
        self._url, self._numbers = url, itertools.count(1)

    async def __call__(self, name: str, input: Json, stated: str) -> ToolAnswer:
        body = {"id": stated or f"mcp_{next(self._numbers)}", "input": input}
        return await asyncio.to_thread(self._post, name, body)

    def _post(self, name: str, body: dict[str, Json]) -> ToolAnswer:
        """Return the tool's answer; any error becomes an error answer."""
        request = urllib.request.Request(
            f"{self._url}/{quote(name, safe='')}",
            data=msgspec.json.encode(body),
            headers={"content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request) as answer:
                return msgspec.json.decode(answer.read(), type=ToolAnswer)
        except urllib.error.HTTPError as error:
            return ToolAnswer(error.read().decode(errors="replace"), is_error=True)
        except (OSError, ValueError, msgspec.DecodeError) as error:
            return ToolAnswer(f"the tool {name} gave no answer: {error}", is_error=True)


if __name__ == "__main__":
    sys.exit(main())
