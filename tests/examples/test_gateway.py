"""The gateway to copy from: messages in mid-turn, approvals, restarts; and two wrong twins."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from examples.agents.anthropic_rows import said
from examples.agents.gateway import Gateway
from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn
from harness.core.values.profile import InboundPolicy, Profile
from harness.runner import Run, run
from harness.targets import of_callable
from tests.examples.test_careful_agents import played
from tests.runner.test_messages_in_mid_turn import SCENARIO


class Forgets(Gateway):
    """Takes what came in mid-turn out of its queue, and tells the model nothing of it."""

    def fold(self) -> None:
        while (message := self.waiting.first(self.session)) is not None:
            self.waiting.drop(message)


class RepliesTwice(Gateway):
    """Sends the answer of a turn again, for the message that the turn has taken in."""

    def finish(self, inbound: Any, text: str, kind: str, status: str) -> None:
        super().finish(inbound, text, kind, status)
        if len(self.turn_messages) > 1:
            super().finish(inbound, f"Once more: {text}", kind, status)


class TakesInAnyChat(Gateway):
    """Takes into its turn what waits, of any session."""

    def fold(self) -> None:
        while (message := self.waiting.first()) is not None:
            if self.taken_from_queue(message):
                self.rows[self.session].append(
                    {**said("user", message.text), "inbound": message.id}
                )
                self.turn_messages.append(message)


class DropsWhatItDrained(Gateway):
    """Takes what came out of its queue, and forgets it if the turn is stopped before it asks."""

    def fold(self) -> None:
        drained = []
        while (message := self.waiting.first(self.session)) is not None:
            self.waiting.drop(message)
            drained.append(message)
        self.check_budget()
        for message in drained:
            self.waiting.put(message)
        super().fold()


STOPPED = msgspec.structs.replace(
    SCENARIO,
    tools={"step": ToolScript(script=(ToolTurn(hang=10, ok="done", times="forever"),))},
    inbox=(
        InboxItem(id="m1", text="Do two steps."),
        InboxItem(id="m2", text="Rather one.", when={"ms": 5000}),
        InboxItem(id="c1", kind="cancel", when={"ms": 6000}),
        InboxItem(id="m3", text="Thanks."),
    ),
)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def steered(
    kind: type[Gateway], scenario: Scenario = SCENARIO, policy: InboundPolicy = "steer"
) -> Run:
    target = of_callable(lambda brief: kind(brief).run())
    target = msgspec.structs.replace(target, options={"inbound": policy})
    return run(msgspec.structs.replace(scenario, profile=Profile(inbound=policy)), target)


@pytest.mark.parametrize(
    ("policy", "joined"), [("queue", [0, 0, 0]), ("steer", [1, 0]), ("interrupt", [0, 0, 0])]
)
def test_a_message_in_mid_turn_is_met_by_the_policy(
    policy: InboundPolicy, joined: list[int]
) -> None:
    done = steered(Gateway, policy=policy)
    assert (done.verdict.verdict, tuple(done.verdict.failing)) == ("pass", ())
    assert [len(turn.joined) for turn in done.history.trace.turns.values()] == joined


def test_a_message_may_come_again_once_a_turn_has_taken_it_in() -> None:
    first, second, last = (
        msgspec.structs.replace(item, id=f"m{n}") for n, item in enumerate(SCENARIO.inbox)
    )
    again = msgspec.structs.replace(second, when="idle")
    done = steered(Gateway, msgspec.structs.replace(SCENARIO, inbox=(first, second, again, last)))
    assert (done.verdict.verdict, tuple(done.verdict.failing)) == ("pass", ())


def test_the_reply_about_a_stop_may_answer_what_came_before_it() -> None:
    done = steered(Gateway, STOPPED)
    assert (done.verdict.verdict, tuple(done.verdict.failing)) == ("pass", ())
    stopped, _ = done.history.trace.turns.values()
    assert [each.inbound.id for each in stopped.joined] == ["m2"]


def test_a_steered_message_that_a_stop_loses_is_told_as_such() -> None:
    first = steered(DropsWhatItDrained, STOPPED).verdict.failing[0]
    assert first.message == (
        "nothing is done about the message m2, 'Rather one.': it came before the stop of turn 1 of"
        " main, and was lost with it"
    )


def test_a_message_of_another_chat_is_no_part_of_the_open_turn() -> None:
    first, second, _ = SCENARIO.inbox
    asked = msgspec.structs.replace(first, text="Do the work in two steps.")
    other = msgspec.structs.replace(second, session="ada", text="Which ferry goes to Horten?")
    scenario = msgspec.structs.replace(SCENARIO, inbox=(asked, other))
    assert steered(Gateway, scenario).verdict.verdict == "pass"
    found = steered(TakesInAnyChat, scenario).verdict.failing[0]
    assert found.message.endswith("holds words of ada and main")


@pytest.mark.parametrize(
    ("kind", "code"),
    [(Forgets, "inbound_exactly_once.lost"), (RepliesTwice, "outbound_once.twice")],
)
def test_a_wrong_twin_is_red_by_its_cause(kind: type[Gateway], code: str) -> None:
    causes = [finding.code for finding in steered(kind).verdict.failing if not finding.follows]
    assert causes[:1] == [code]


@pytest.mark.real
def test_busy_chats_approvals_and_restarts(tmp_path: Path) -> None:
    folders = ["inbound", "gateway/busy.yaml", "approval", "resume"]
    verdicts = played("gateway", folders, tmp_path)
    failed = [v["name"] for v in verdicts if v["verdict"] == "fail"]
    # The example knows no words of its own: a channel that brings them back makes it talk on.
    # And it waits for the user's answer as long as that takes, an hour in the other run.
    assert {name.partition("@")[0].partition("+")[0] for name in failed} <= {
        "own-words-come-back",
        "woken-several-times/while-the-question-is-open",
    }
    assert sum(verdict["verdict"] == "pass" for verdict in verdicts) > 110
