"""Statements 131 to 136, 139 to 147, 162: what is stored, and what a position in a list forgets."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

from harness.agent.sessions.transcript import STORE_WAITS_S, RowTranscript
from harness.core.values.messages import Message, ToolResult, assistant, results, user
from harness.stores.sqlite import SqliteStore
from tests.agent.replies import error, text, use
from tests.agent.stand import Stand
from tests.mutants.transcript_places import (
    ClampedTranscript,
    CursorTranscript,
    FallingTranscript,
    LateCursorTranscript,
)
from tests.seeds.caught import caught, stored_sides

VIOLATION = [user("lost"), user("question")]
ORPHAN = results(ToolResult("gone", "an orphan"))
ASKED = "abcde"


def five(folder: Path, past: list[Message], **parts: Any) -> Stand:
    """Five normal turns on a stored past."""
    ran = Stand(folder, [text(f"reply to {name}") for name in ASKED], *ASKED)
    ran.store.seed("main", past)
    return ran.run(**parts)


@pytest.mark.seed(131)
def test_every_message_and_every_delivered_reply_is_stored_once_in_order(tmp_path: Path) -> None:
    ran = five(tmp_path, VIOLATION)
    new = [m for name in ASKED for m in (user(name), assistant(f"reply to {name}"))]
    assert ran.rows() == [*VIOLATION, *new]
    assert [said["text"] for said in ran.said] == [f"reply to {name}" for name in ASKED]


@pytest.mark.seed(132, 134, kind="mutant")
def test_a_late_cursor_loses_the_user_while_roles_alternate(tmp_path: Path) -> None:
    past = [user("a"), assistant("b"), user("unanswered")]
    ran = five(tmp_path, past, transcript=LateCursorTranscript)
    assert ran.sides == "uau" + "a" + "ua" * 4
    assert user("a") not in ran.rows()[3:]
    codes = [f.code for f in caught("positional_cursor_late").verdict.findings]
    assert "reload_equivalence.lost_inbound" in codes
    assert "role_alternation.wire" not in codes


@pytest.mark.seed(132, kind="mutant")
def test_a_late_cursor_loses_as_many_first_rows_of_each_turn_as_were_merged(tmp_path: Path) -> None:
    """The merged rows stay in the store, so each of the five turns loses its user row."""
    past = [user("x"), user("y"), assistant("z")]
    (tmp_path / "late").mkdir()
    late = five(tmp_path / "late", past, transcript=LateCursorTranscript)
    assert [row for row in late.rows()[len(past) :] if row.role == "user"] == []
    assert len(late.said) == 5
    assert five(tmp_path, past).sides == "uua" + "ua" * 5


@pytest.mark.seed(133, kind="mutant")
def test_an_early_flush_turns_user_loss_into_reply_loss(tmp_path: Path) -> None:
    ran = five(tmp_path, VIOLATION, transcript=CursorTranscript)
    assert ran.sides == "uu" + "uuuuu"
    assert len(ran.said) == 5
    played = caught("positional_cursor")
    assert stored_sides(played).endswith("uuuuu")


@pytest.mark.seed(135)
@pytest.mark.parametrize("past", [[user("x"), ORPHAN], [user("x"), assistant("y"), ORPHAN]])
def test_an_orphan_result_loses_nothing(tmp_path: Path, past: list[Message]) -> None:
    assert five(tmp_path, past).sides[len(past) :] == "ua" * 5


@pytest.mark.seed(135, kind="mutant")
def test_an_orphan_result_that_is_sent_is_caught() -> None:
    assert caught("sends_orphan_results").verdict.verdict == "fail"


@pytest.mark.seed(136, kind="mutant")
@pytest.mark.parametrize(
    ("merged", "missing"), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 4)], ids=str
)
def test_the_cursor_skips_as_many_new_rows_as_were_merged(
    tmp_path: Path, merged: int, missing: int
) -> None:
    """Four new rows: the message, a call, its result, the reply; early flush is off."""
    folders = {kind: tmp_path / kind.__name__ for kind in (LateCursorTranscript, RowTranscript)}
    stored = {}
    for kind, folder in folders.items():
        folder.mkdir()
        ran = Stand(folder, [use("look", {"a": 1}), text("done")], "ask")
        ran.tool("look", "seen")
        past = [user("x")] * (merged + 1) + [assistant("y")]
        ran.store.seed("main", past)
        stored[kind] = ran.run(transcript=kind).rows()[len(past) :]
    assert len(stored[RowTranscript]) == 4
    assert stored[LateCursorTranscript] == stored[RowTranscript][missing:]


@pytest.mark.seed(139, kind="mutant")
def test_a_clamp_writes_no_reply() -> None:
    assert stored_sides(caught("cursor_clamped")).endswith("uuuuu")


@pytest.mark.seed(139, kind="mutant")
@pytest.mark.parametrize(("merged", "missing"), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3)])
def test_a_clamp_loses_as_many_rows_as_were_merged(
    tmp_path: Path, merged: int, missing: int
) -> None:
    """A turn adds a call, its result and the reply behind the message that is flushed early."""
    past = [user("x")] * (merged + 1) + [assistant("y")]
    assert _new_sides(tmp_path, past, ClampedTranscript) == "u" + "aua"[missing:]


@pytest.mark.seed(140, kind="mutant")
def test_a_fallback_writes_the_history_again_each_turn(tmp_path: Path) -> None:
    """As many rows were merged as a turn adds: 130 rows in place of 15 after five turns."""
    assert len(stored_sides(caught("cursor_falls_back"))) > 2 * (5 + 10)
    past = [user("x")] * 4 + [assistant("y")]
    assert len(five(tmp_path, past, transcript=FallingTranscript).rows()) > 100


@pytest.mark.seed(140, kind="mutant")
@pytest.mark.parametrize(("merged", "missing"), [(0, 0), (1, 1), (2, 2)])
def test_a_fallback_still_loses_rows_where_fewer_were_merged(
    tmp_path: Path, merged: int, missing: int
) -> None:
    """A turn adds a call, its result and the reply behind the message that is flushed early."""
    past = [user("x")] * (merged + 1) + [assistant("y")]
    assert _new_sides(tmp_path, past, FallingTranscript) == "u" + "aua"[missing:]


def _new_sides(folder: Path, past: list[Message], transcript: type[RowTranscript]) -> str:
    """The roles of what a turn with one call of a tool stores."""
    ran = Stand(folder, [use("look", {"a": 1}), text("done")], "ask")
    ran.tool("look", "seen")
    ran.store.seed("main", past)
    return ran.run(transcript=transcript).sides[len(past) :]


@pytest.mark.seed(141, kind="mutant")
def test_replacing_the_rows_stores_the_merge() -> None:
    played = caught("stores_the_merge")
    assert any(event.gone for event in played.history.trace.stored)


@pytest.mark.seed(142, kind="mutant")
def test_identity_comes_from_the_store_and_outlives_the_object(tmp_path: Path) -> None:
    caught("identity_by_address")
    ran = Stand(tmp_path, [text("same")], *["same"] * 30)
    send = ran.send

    def forget(*args: Any, **kwargs: Any) -> None:
        send(*args, **kwargs)
        gc.collect(1)

    ran.send = forget  # type: ignore[method-assign]
    assert ran.run().sides == "ua" * 30
    ids = [row.id for row in ran.store.rows("main")]
    assert len(set(ids)) == len(ids) == 60


@pytest.mark.seed(143, kind="mutant")
def test_no_marker_of_a_row_is_on_the_wire(tmp_path: Path) -> None:
    caught("marker_on_the_wire")
    ran = five(tmp_path, VIOLATION)
    blocks = [b for r in ran.provider.requests for m in r["messages"] for b in m["content"]]
    assert all(set(block) == {"type", "text"} for block in blocks)
    row = ran.store.rows("main")[-1]
    ran.store.append("main", row.message)
    assert ran.rows()[-2:] == [row.message, row.message], "an equal message is a row of its own"


@pytest.mark.seed(144, kind="mutant")
@pytest.mark.parametrize("ending", [text("x"), text(), error(400, "no"), text(stop="refusal")])
def test_one_exit_stores_the_reply(tmp_path: Path, ending: Any) -> None:
    assert Stand(tmp_path, [ending], "a").run().sides == "ua"


@pytest.mark.seed(144, kind="mutant")
def test_a_second_exit_point_is_caught() -> None:
    caught("two_exit_points")


class Breaking(SqliteStore):
    """A store whose nth append fails, however often it is tried."""

    left = 1

    def append(self, *args: Any) -> str:
        """Store, or fail."""
        self.left -= 1
        if -len(STORE_WAITS_S) <= self.left <= 0:
            raise OSError(28, "No space left on device")
        return super().append(*args)


@pytest.mark.seed(145, kind="mutant")
@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_failed_write_doubles_nothing_and_is_told(tmp_path: Path, failing: int) -> None:
    caught("failed_write_repeats")
    turn = [use("look", {"a": 1}), use("look", {"a": 2}), text("done")]
    ran = Stand(tmp_path, [*turn[: (failing + 1) // 2], text("next")], "a", "b")
    ran.tool("look", "seen")
    ran.store = Breaking(tmp_path / "breaking.db")
    ran.store.left = failing
    ran.run()
    assert (ran.said[0]["kind"], "space" in ran.said[0]["text"]) == ("error", True)
    rows = ran.rows()
    assert len({str(row) for row in rows}) == len(rows)
    assert rows[-2:] == [user("b"), assistant("next")]


@pytest.mark.seed(146, kind="mutant")
def test_nothing_is_kept_between_turns_that_could_be_stale() -> None:
    caught("stale_cursor")


@pytest.mark.seed(147, kind="mutant")
def test_scaffolding_is_no_row_and_moves_no_cursor(tmp_path: Path) -> None:
    caught("scaffolding_overshoots")
    ran = Stand(tmp_path, [text(), text("late"), text("next")], "a", "b").run()
    assert ran.rows() == [user("a"), assistant("late"), user("b"), assistant("next")]
    asked = ran.provider.requests[1]["messages"][-1]["content"]
    assert [block["text"] for block in asked] == ["a", "Please answer."]


@pytest.mark.seed(162, kind="mutant")
def test_the_spiral_has_three_signs() -> None:
    played = caught("positional_cursor")
    assert stored_sides(played).endswith("uuuuu")
    found = played.verdict.findings
    again = [f for f in found if f.code == "inbound_exactly_once.twice"]
    lost = [f for f in found if f.code == "reload_equivalence.lost_reply"]
    assert len(lost) == 5
    assert "comes again as new" in again[0].message
    assert "reload_equivalence.lost_reply" in {
        f.code for f in caught("delivered_not_stored").verdict.findings
    }
