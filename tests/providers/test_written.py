"""Laws of what a provider writes, for each wire: ids are drawn, and half a character is kept."""

from __future__ import annotations

import json

import pytest

from harness.core.transition.ports import Reading
from harness.core.values.draws import Draws
from harness.core.values.messages import Message, Text, user
from harness.core.values.plans import Reply
from harness.providers import by_name
from tests.providers.requests import GEMINI, WIRES, WireRequests
from tests.providers.sends import content_type, joined

of_each_wire = pytest.mark.parametrize("requests", WIRES, ids=lambda requests: requests.wire)
IDS = {
    "anthropic": ("id", "msg_"),
    "openai-chat": ("id", "chatcmpl-"),
    "openai-responses": ("id", "resp_"),
    "gemini": ("responseId", ""),
}
"""The field of an answer's id, and how the id begins."""

WAYS = [(r, stream) for r in WIRES for stream in (False, True) if r is not GEMINI or not stream]
"""An address of Gemini says whether it streams, and no field of the request."""


def reading(requests: WireRequests, stream: bool = False) -> Reading:
    """The reading of a plain request."""
    asked = json.loads(requests.body([user("hi")]))
    asked |= {"stream": True} if stream else {}
    return requests.reader().read(json.dumps(asked).encode())


@pytest.mark.parametrize(("requests", "stream"), WAYS)
def test_half_an_emoji_is_written_as_an_escape(requests: WireRequests, stream: bool) -> None:
    reply, wire = Reply((Text("x\ud83d"),)), by_name(requests.wire)
    sends = wire.write(reply, reading(requests, stream), "main/model#1", Draws(7))
    assert rb"x\ud83d" in joined(sends)
    parsed = wire.parse(joined(sends), content_type(sends))
    assert parsed.message == Message("assistant", reply.blocks)


@of_each_wire
def test_ids_follow_from_seed_and_key_alone(requests: WireRequests) -> None:
    asked, wire = reading(requests), by_name(requests.wire)
    one = wire.write(Reply(), asked, "main/model#1", Draws(1))
    assert wire.write(Reply(), asked, "main/model#1", Draws(1)) == one
    others = (
        wire.write(Reply(), asked, "main/model#2", Draws(1)),
        wire.write(Reply(), asked, "main/model#1", Draws(2)),
    )
    field, start = IDS[requests.wire]
    ids = {json.loads(joined(sends))[field] for sends in (one, *others)}
    assert len(ids) == 3
    assert all(id_.startswith(start) for id_ in ids)
