"""A request that no recorded exchange matches: the answer says what differs, and from which."""

from __future__ import annotations

from typing import Any

import pytest

from harness.core.values.calls import Received
from harness.core.values.plans import Send
from tests.cassettes.played import Played, encoded, run_requests
from tests.cassettes.recorded import ASK, interaction


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "claude-y"}, "model differs: sent 'claude-y', recorded 'claude-x'"),
        ({"max_tokens": 7}, "max_tokens differs: sent 7, recorded 100"),
        ({"stream": True}, "stream differs: sent true, recorded false"),
        ({"system": "be kind"}, "system differs: sent 'be kind', recorded ''"),
        ({"tools": [{"name": "read"}]}, "tools[0] differs: "),
        (
            {"messages": [{"role": "user", "content": "hello"}]},
            "messages[0].content[0].text differs: sent 'hello', recorded 'hi'",
        ),
        (
            {"messages": [{"role": "assistant", "content": "hi"}]},
            "messages[0].role differs: sent 'assistant', recorded 'user'",
        ),
    ],
)
def test_a_changed_request_is_told_what_differs(change: dict[str, Any], words: str) -> None:
    played = Played(interaction())
    answer = played.ask({**ASK, **change})
    assert answer["type"] == "error"
    text = answer["error"]["message"]
    assert text.startswith("loop-harness: no recorded exchange matches this request; nearest is #1")
    assert words in text
    assert (played.last.status, played.last.error) == (400, "cassette.miss")
    assert played.last.value == text
    assert played.unplayed == ["exchange #1 of the cassette (1 messages)"]


@pytest.mark.parametrize(
    ("sent", "recorded", "words"),
    [
        ("now", "then", "sent '…s a long beginning: now', recorded '…s a long beginning: then'"),
        ("", "then", "sent '…s a long beginning: ', recorded '…s a long beginning: then'"),
        ("x" * 99, "y", f"sent '…s a long beginning: {'x' * 37}…, recorded"),
    ],
)
def test_long_texts_are_shown_from_their_first_difference(
    sent: str, recorded: str, words: str
) -> None:
    same = "Something that both of them say, for it is a long beginning: "
    played = Played(interaction({**ASK, "system": same + recorded}))
    assert words in played.ask({**ASK, "system": same + sent})["error"]["message"]


def test_the_nearest_is_the_one_with_the_longest_beginning_in_common() -> None:
    requests = run_requests(4, "a")
    played = Played(*(interaction(request) for request in requests))
    for request in requests[:2]:
        played.ask(request)
    changed = run_requests(4, "a")[2]
    changed["messages"][3]["content"][0]["input"]["path"] = "b"
    text = played.ask(changed)["error"]["message"]
    assert (
        "nearest is #3: messages[3].content[0].input.path differs: sent 'b', recorded 'a'" in text
    )
    longer = run_requests(5, "a")[4]
    text = played.ask(longer)["error"]["message"]
    assert "nearest is #4: messages[7] differs: " in text
    assert "recorded nothing; then #3: messages[5] differs: " in text
    assert text.endswith("; played so far: #1-#2 of 4")


def test_what_was_played_is_said_in_runs() -> None:
    lanes = [{**ASK, "messages": [{"role": "user", "content": f"lane {n}"}]} for n in range(6)]
    played = Played(*(interaction(request) for request in lanes))
    other = {**ASK, "messages": [{"role": "user", "content": "other"}]}
    assert "nothing has been played so far" in played.ask(other)["error"]["message"]
    for n in (4, 0, 1, 2):
        played.ask(lanes[n])
    assert played.ask(other)["error"]["message"].endswith("played so far: #1-#3, #5 of 6")


def test_a_miss_after_all_have_been_played_says_so() -> None:
    played = Played(interaction())
    played.ask()
    assert "its answers have been played: #1" in played.ask()["error"]["message"]
    other = {**ASK, "max_tokens": 1}
    assert "all 1 have been played" in played.ask(other)["error"]["message"]


def test_a_miss_is_not_retried_by_the_client() -> None:
    played = Played(interaction())
    request = Received("/v1/messages", {}, encoded({**ASK, "max_tokens": 1}), 0)
    (step,) = played.transition.model(request)
    assert isinstance(step, Send)
    assert step.head is not None
    assert step.head.headers["x-should-retry"] == "false"
