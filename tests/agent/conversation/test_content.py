"""Pictures that are too large are replaced by a note; all others stay as they are."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent import agent
from harness.agent.conversation.content import (
    EDGE_MAX_PIXELS,
    SIZE_MAX_BYTES,
    picture_url,
    sendable_picture,
)
from harness.agent.models.openai_chat_model import write_rows
from harness.agent.models.openai_responses_model import write_items
from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.core.values.messages import Block, Message, Opaque, Text
from harness.runner import run
from tests.core.picture_heads import HEADS, Head


def picture(data: str) -> Opaque:
    source: Any = {"type": "base64", "media_type": "image/png", "data": data}
    return Opaque("image", {"type": "image", "source": source})


def coded(head: bytes) -> str:
    return base64.b64encode(head + b"\0" * 30).decode()


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.__name__)
@given(st.integers(1, 9000), st.integers(1, 9000))
def test_an_edge_decides(head: Head, width: int, height: int) -> None:
    block = picture(coded(head(width, height)))
    fits = max(width, height) <= EDGE_MAX_PIXELS
    assert (sendable_picture(block) is block) == fits


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.__name__)
def test_a_tool_may_return_a_picture_of_any_format_that_is_too_large(head: Head) -> None:
    source: Any = {"type": "base64", "media_type": "image/png", "data": coded(head(9_000, 16))}
    scenario = Scenario(
        name="large-picture",
        tools={"look": ToolScript(script=(ToolTurn(ok=({"type": "image", "source": source},)),))},
        inbox=(InboxItem(text="What is on the picture?"),),
        script=(Turn(use="look", input={}), Turn(say="It is too large for me.")),
    )
    verdict = run(scenario, agent).verdict
    assert ([f.code for f in verdict.findings], verdict.verdict) == ([], "pass")


def test_bytes_decide_as_they_are_sent() -> None:
    fits = picture("A" * SIZE_MAX_BYTES)
    assert sendable_picture(fits) is fits
    note = sendable_picture(picture("A" * (SIZE_MAX_BYTES + 4)))
    assert isinstance(note, Text)
    assert str(SIZE_MAX_BYTES + 4) in note.text


@given(st.binary(max_size=60))
def test_what_cannot_be_read_is_sent(data: bytes) -> None:
    block = picture(base64.b64encode(b"BM" + data).decode())
    assert sendable_picture(block) is block


@pytest.mark.parametrize("data", ["", "!", "iVBORw0KGgo=", "R0lGODlh", "/9j/", "A=A="])
def test_a_head_that_is_cut_off_is_sent(data: str) -> None:
    assert sendable_picture(picture(data)) == picture(data)


def test_other_blocks_and_pictures_by_address_stay() -> None:
    source: Any = {"type": "url", "url": "https://example.org/map.png"}
    for block in (Opaque("image", {"type": "image", "source": source}), Opaque("audio", {})):
        assert sendable_picture(block) is block


URL = "https://example.invalid/cat.png"
LINKED = Opaque("image", {"type": "image", "source": {"type": "url", "url": URL}})


@pytest.mark.parametrize(
    ("block", "url"),
    [
        (picture("eA=="), "data:image/png;base64,eA=="),
        (LINKED, URL),
        (Opaque("image", {"type": "image", "source": {"type": "file", "file_id": "f"}}), ""),
        (Opaque("document", LINKED.value), ""),
        (Text("a"), ""),
    ],
)
def test_a_picture_of_a_user_is_a_url_on_the_openai_wires(block: Block, url: str) -> None:
    assert picture_url(block) == url
    chat: list[Any] = [{"type": "image_url", "image_url": {"url": url}}]
    responses: list[Any] = [{"type": "input_image", "image_url": url}]
    if url:
        alone = Message("user", (block,))
        assert list(write_rows(alone)) == [{"role": "user", "content": chat}]
        assert list(write_items(alone)) == [{"role": "user", "content": responses}]


def test_a_picture_stands_where_the_user_put_it() -> None:
    rows = list(write_rows(Message("user", (Text("This"), LINKED, Text("or that?")))))
    text = [{"type": "text", "text": said} for said in ("This", "or that?")]
    shown = {"type": "image_url", "image_url": {"url": URL}}
    assert rows == [{"role": "user", "content": [text[0], shown, text[1]]}]
