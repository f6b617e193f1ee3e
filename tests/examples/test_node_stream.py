"""The Node example reads a stream alike for all cuts and line ends."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.examples.world import EXAMPLES, events, sse, use

pytestmark = pytest.mark.real

READ_ALL = """
import { readMessage } from %s;
async function* pieces(bytes, size) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
let input = "";
for await (const chunk of process.stdin) input += chunk;
const seen = [];
for (const text of JSON.parse(input)) {
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 2, 3, 5, 7, 64, bytes.length]) {
    seen.push(await readMessage(pieces(bytes, size)).catch((e) => e.constructor.name));
  }
}
console.log(JSON.stringify(seen));
"""


def read(node: str, *streams: bytes) -> list[Any]:
    """What the module makes of each stream, cut into pieces of seven sizes."""
    module = json.dumps((EXAMPLES / "node_agent" / "sse.mjs").as_uri())
    command = [node, "--input-type=module", "-e", READ_ALL % module]
    given = json.dumps([stream.decode() for stream in streams])
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    out: list[Any] = json.loads(done.stdout)
    return out


def message() -> dict[str, Any]:
    reply = use(("write", {"path": "/ø/☀", "lines": ["a\r\nb", "\u2028"]}), id="toolu_1")
    reply["content"].insert(0, {"type": "text", "text": "Jeg prøver 🙂\nnå"})
    return reply


def test_pieces_and_line_ends_make_no_difference(node: str) -> None:
    streams = [sse(events(message()), eol) for eol in ("\n", "\r\n", "\r")]
    assert read(node, *streams) == [message()] * 21


def test_comments_pings_and_unknown_events_are_passed_over(node: str) -> None:
    noise = b': hello\n\nevent: ping\ndata: {"type": "ping"}\n\ndata:{"type":"new"}\nid: 7\n\n'
    assert read(node, noise + sse(events(message()))) == [message()] * 7


def test_only_message_stop_makes_a_reply_whole(node: str) -> None:
    whole = events(message())
    cut = [sse(whole[:end]) for end in range(len(whole))]
    assert set(read(node, *cut)) == {"BrokenStream"}


def test_unreadable_tool_input_has_no_value(node: str) -> None:
    stream = events(message())
    del stream[-4]  # the second half of the tool's input
    seen = read(node, sse(stream))
    assert len(seen) == 7
    assert all("input" not in reply["content"][1] for reply in seen)


def test_an_error_event_ends_the_reply(node: str) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    assert set(read(node, sse([*events(message())[:3], error]))) == {"StreamError"}
