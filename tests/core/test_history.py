from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.history.events import SCHEMA_VERSION, AnyEvent, StoredRow
from harness.core.history.history import History, canonical, decode, encode
from harness.core.values.calls import (
    InboxRequest,
    ModelRequest,
    OutboxRequest,
    StoreRequest,
    ToolRequest,
)
from harness.core.values.mark_kinds import Mark
from harness.core.values.messages import (
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.core.values.plans import Sent


def one_of_each() -> History:
    history = History()
    history.started(run="r", scenario="s", seams=("model",), settings={"b": 1, "a": [2]}, at_ms=1)
    digest = history.note(
        assistant(
            "x", Thinking("t", "s"), ToolUse("i", "n", {"a": [1, None]}), Opaque("o", {"q": 1})
        )
    )
    history.note(results(ToolResult("i", (Text("a"), Opaque("image", {"x": 1})), is_error=True)))
    tools = history.value([{"name": "n"}])
    request = ModelRequest("m", (digest,), after="main/model#1", keep=2, tools=tools)
    history.called(
        key="main/model#2", seam="model", request=request, session="main", refused=("V1",)
    )
    for seam, other in (
        ("tool", ToolRequest("i", "n", {"a": 1})),
        ("inbox", InboxRequest()),
        ("outbox", OutboxRequest("final", "done", status="ok")),
        ("store", StoreRequest("append", ("r1",))),
    ):
        history.called(key=f"main/{seam}#1", seam=seam, request=other, session="main")
    history.answered(
        key="main/model#2", seam="model", script_turn=3, status=200, blocks=digest, usage={"o": 1},
        steps=(Sent(1, 3),), faults=("http.status",), stop="end_turn",
    )  # fmt: skip
    inbound = {"id": "m1", "session": "main", "kind": "message", "at_ms": 77}
    history.answered(key="main/inbox#1", seam="inbox", value=inbound)
    history.accepted(at_ms=78)
    history.marked(Mark("always", "few", False, {"messages": 3}, "bot.py:7 in agent"), 78)
    history.effect(key="main/tool#1", name="pay", idempotency_key="k")
    rows = (StoredRow("r1", digest, "m1"),)
    history.stored(store="sqlite", added=rows, changed=rows, gone=("r0",), durable=False)
    history.refused(status=403, text="not ours", request="GET /", at_ms=3)
    history.killed(at="main/model#2")
    history.ended(how="crashed", exit_code=1, text="no", unplayed=("turn 1",), real_wait_ms=5)
    return history


def test_every_event_survives_the_file() -> None:
    history = one_of_each()
    read = decode(encode(history.events))
    assert {type(e) for e in history.events} == set(AnyEvent.__args__)
    assert encode(read.events) == encode(history.events)
    assert read.messages == history.messages
    assert read.values == history.values
    assert vars(read.past) == vars(history.past)


def test_the_first_line_has_the_version() -> None:
    first = msgspec.json.decode(encode(one_of_each().events).split(b"\n")[0])
    assert first["v"] == SCHEMA_VERSION
    assert first["event"] == "started"


@pytest.mark.parametrize("version", [0, SCHEMA_VERSION + 1])
def test_another_version_is_refused_in_words(version: int) -> None:
    line = b'{"event":"started","n":1,"v":%d,"run":"r","scenario":"s"}\n' % version
    with pytest.raises(msgspec.ValidationError, match=f"line 1: a history of version {version}"):
        decode(line)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (b"{}", "line 1: "),
        (b"\n\n{\n", "line 3: "),
        (b'{"event":"killed","n":1,"at":"x"}\n{"event":"kill', "line 2: "),
        (b'{"event":"nothing","n":1}', "line 1: Invalid value 'nothing'"),
        (b'{"event":"killed","n":1,"at":3}', r"line 1: Expected `str`, got `int` - at `\$.at`"),
        (b'{"event":"started","n":1,"run":"r","scenario":"s"}', "line 1: .*missing.*`v`"),
        (b"\x00\xff", "line 1: "),
    ],
)
def test_what_is_no_history_says_the_line(lines: bytes, words: str) -> None:
    with pytest.raises(msgspec.DecodeError, match=words):
        decode(lines)


@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError, match=r"^line \d+: "):
        decode(data + b"\n}")


def test_the_sink_gets_each_event_as_it_is_made() -> None:
    written: list[AnyEvent] = []
    history = History(written.append)
    history.note(user("a"))
    assert written == history.events
    history.note(user("a"))
    assert len(written) == 1, "a message is written once"
    assert history.value("") == ""
    assert [e.n for e in history.events] == [1]


def test_canonical_leaves_out_what_transports_and_worlds_may_differ_in() -> None:
    def made(at_ms: int, door: str) -> History:
        history = History()
        history.started(run="r", scenario="s", at_ms=at_ms, door=door, versions={"x": door})
        value = {"id": "m1", "session": "main", "at_ms": at_ms}
        history.answered(key="main/inbox#1", seam="inbox", value=value, at_ms=at_ms)
        history.ended(how="returned", real_wait_ms=at_ms, at_ms=at_ms)
        return history

    assert encode(made(1, "a").events) != encode(made(2, "b").events)
    assert canonical(made(1, "a")) == canonical(made(2, "b"))
    other = made(1, "a")
    other.killed(at="x")
    assert canonical(other) != canonical(made(1, "a"))


def test_half_an_emoji_is_kept_as_its_escape() -> None:
    history = History()
    name = history.note(assistant("half \ud83d"))
    read = decode(encode(history.events))
    assert read.messages[name].text == "half \\ud83d"
    assert encode(read.events) == encode(history.events)


@pytest.mark.parametrize(
    "settings",
    [{"checks": [{}]}, {"checks": {"loops": 3}}, {"tools": {"book": "x"}}, {"seeded": "two"}],
)
def test_damaged_settings_are_told_with_their_line(settings: dict[str, object]) -> None:
    line = {"event": "started", "n": 1, "v": 2, "run": "r", "scenario": "s", "settings": settings}
    with pytest.raises(msgspec.ValidationError, match=rf"^line 1: .*\$\.{next(iter(settings))}"):
        decode(msgspec.json.encode(line))
