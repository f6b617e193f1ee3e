"""Every known defect can be handed in as one wrong part, with nothing patched."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.agent.gateway import Gateway
from harness.agent.guards import EmptyInputGuard
from harness.agent.sessions.transcript import RowTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.turn_policy import Policy
from harness.core.values.brief import ToolError
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, Text, assistant, user
from harness.stores.sqlite import SqliteStore
from tests.agent.replies import error, text, use
from tests.agent.stand import Stand


class PositionalTranscript(RowTranscript):
    """Repairs the live list, and stores what stands behind a position in it."""

    early = True

    def open(self, inbound: Inbound) -> bool:
        """Add the message, and store it at once or not."""
        self.live = [row.message for row in self._store.load(self._session)]
        self.known = self.flushed = len(self.live)
        self.live.append(user(inbound.text))
        if self.early:
            self.flush()
        return True

    def flush(self) -> None:
        """Store what is behind the cursor."""
        for message in self.live[max(self.known, self.flushed) :]:
            self._store.append(self._session, message)
        self.flushed = len(self.live)

    def append(self, message: Message) -> None:
        """Add, and store at the end."""
        self.live.append(message)

    def wire(self, nudge: str = "") -> list[Message]:
        """Merge user messages in place."""
        merged: list[Message] = []
        for message in self.live:
            if merged and merged[-1].role == message.role == "user":
                message = user(f"{merged.pop().text}\n\n{message.text}")
            merged.append(message)
        self.live[:] = merged
        return list(self.live)

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Store what is behind the cursor."""
        self.live.append(outcome.message)
        self.flush()


class LatePositionalTranscript(PositionalTranscript):
    """The same, without storing the user's message early."""

    early = False


@pytest.mark.parametrize(
    ("transcript", "past", "stored"),
    [
        (PositionalTranscript, [user("x"), user("y")], "uu" + "u" * 5),
        (LatePositionalTranscript, [user("x"), assistant("y"), user("z")], "uau" + "a" + "ua" * 4),
    ],
)
def test_repair_of_the_live_list_loses_replies_or_messages(
    tmp_path: Path, transcript: Any, past: list[Message], stored: str
) -> None:
    ran = Stand(tmp_path, [text("reply")], *"abcde")
    ran.store.seed("main", past)
    ran.run(transcript=transcript)
    assert len(ran.said) == 5
    assert ran.sides == stored


def test_no_breaker_at_all(tmp_path: Path) -> None:
    ran = Stand(tmp_path, [use("memory", {"action": "replace"})], "a")
    ran.tool("memory", ToolError("old_text is required"), ["action"])
    ran.run(guards=lambda tools: ())
    assert len(ran.calls) == 49


def test_a_breaker_that_counts_tools_without_parameters(tmp_path: Path) -> None:
    ran = Stand(tmp_path, [use("tick", {})], "a")
    ran.tool("tick", lambda _: str(len(ran.calls)))
    ran.run(guards=lambda tools: (EmptyInputGuard(lambda name: ("anything",)),))
    assert ran.calls == []
    assert ran.ending[1] == "failed"


def test_blind_resend_and_truncated_calls_are_policies(tmp_path: Path) -> None:
    ran = Stand(tmp_path, [error(400, "no")], "a").run(policy=Policy(retries={"permanent": 3}))
    assert len(ran.provider.requests) == 4
    ran = Stand(
        tmp_path, [use("w", {"a": 1}, stop="max_tokens"), text("x")], Inbound("m2", text="b")
    )
    ran.tool("w", "written")
    stops = frozenset({"tool_use", "max_tokens"})
    assert len(ran.run(policy=Policy(runs_calls_on=stops)).calls) == 1


def test_success_claimed_after_giving_up(tmp_path: Path) -> None:
    class Glad(Gateway):
        def send(self, inbound: Inbound, outcome: Outcome) -> None:
            """Say that all is well."""
            said = {"status": "ok", "kind": "final", "message": assistant("Done!")}
            super().send(inbound, msgspec.structs.replace(outcome, **said))

    ran = Stand(tmp_path, [error(400, "no")], "a").run(gateway=Glad)
    assert ran.ending == ("final", "ok", "Done!")


def test_a_redelivered_message_taken_in_twice(tmp_path: Path) -> None:
    class Forgetful(SqliteStore):
        def accept(self, inbound: Inbound, message: Message) -> bool:
            """Store it without a look at the earlier rows."""
            self.append(inbound.session, message, inbound.id)
            return True

    inbox = (Inbound("m1", text="a"), Inbound("m1", text="a"))
    ran = Stand(tmp_path, [text("x")], *inbox)
    ran.run(store=Forgetful(tmp_path / "forgetful.db"))
    assert len(ran.said) == 2


def test_no_projection_sends_what_is_stored(tmp_path: Path) -> None:
    def as_stored(rows: Sequence[Message]) -> list[Message]:
        return list(rows)

    ran = Stand(tmp_path, [text("x")], "a")
    ran.store.seed("main", [user("x"), Message("user", (Text("y"),))])
    with pytest.raises(AssertionError, match="in a row"):
        ran.run(projection=as_stored)
