"""Saying how a turn ended, through a channel that fails."""

from __future__ import annotations

from typing import Any

import pytest

from harness.agent.outgoing import CHANNEL_WAIT_MAX_S, DELIVERY_WAITS_S, attempt, deliver
from harness.agent.sessions.turn_outcome import AGAIN, failed, restored
from harness.core.values.calls import Inbound

INBOUND = Inbound("m1", text="Good morning.")
OUTCOME = failed("That did not work.")


class Channel:
    """A brief whose outbox raises what it is told, one after the other, and then takes the text."""

    def __init__(self, *errors: BaseException) -> None:
        self.errors, self.said, self.waits_s = list(errors), [], []
        self.clock = self

    def send(self, text: str, *rest: Any, **named: Any) -> None:
        """Take the text, or raise."""
        self.said.append(text)
        if self.errors:
            raise self.errors.pop(0)

    def sleep(self, seconds: float) -> None:
        """Note the wait."""
        self.waits_s.append(seconds)


def _delivered(*errors: BaseException, outcome: Any = OUTCOME) -> tuple[bool, Any]:
    channel: Any = Channel(*errors)
    return deliver(channel, INBOUND, outcome), channel


def test_what_is_taken_is_said_once() -> None:
    taken, channel = _delivered()
    assert (taken, channel.said, channel.waits_s) == (True, [OUTCOME.text], [])


@pytest.mark.parametrize("error", [RuntimeError("no"), ConnectionRefusedError("no"), OSError(5)])
def test_what_was_refused_is_said_again_as_it_was(error: Exception) -> None:
    taken, channel = _delivered(error, error)
    assert (taken, channel.said) == (True, [OUTCOME.text] * 3)
    assert channel.waits_s == [1.0, 5.0]


@pytest.mark.parametrize("error", [TimeoutError("?"), ConnectionResetError("?")])
def test_what_may_have_arrived_is_said_with_a_word_about_it(error: Exception) -> None:
    taken, channel = _delivered(error, error)
    again = f"{AGAIN}\n\n{OUTCOME.text}"
    assert (taken, channel.said) == (True, [OUTCOME.text, again, again])


def test_a_reply_of_a_former_run_says_so_already() -> None:
    outcome = restored("Good.", "ok", "final")
    _, channel = _delivered(TimeoutError("?"), outcome=outcome)
    assert channel.said == [outcome.text] * 2


@pytest.mark.parametrize(
    ("words", "wait_s"),
    [
        ("Too Many Requests: retry after 200", 200.0),
        ('{"retry-after": 3}', 3.0),
        ("retry after 0", 1.0),
        ("retry after 99999", CHANNEL_WAIT_MAX_S),
        ("nothing of the kind", 1.0),
    ],
)
def test_the_channel_may_ask_for_a_pause(words: str, wait_s: float) -> None:
    _, channel = _delivered(RuntimeError(words))
    assert channel.waits_s == [wait_s]


def test_it_ends_some_time() -> None:
    taken, channel = _delivered(*[RuntimeError("no")] * 9)
    assert not taken
    assert channel.waits_s == list(DELIVERY_WAITS_S)
    assert len(channel.said) == len(DELIVERY_WAITS_S) + 1


def test_news_may_be_lost() -> None:
    channel: Any = Channel(RuntimeError("no"))
    attempt(lambda: channel.send("a part"))
    assert channel.said == ["a part"]


def test_what_ends_the_run_passes() -> None:
    channel: Any = Channel(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        deliver(channel, INBOUND, OUTCOME)
