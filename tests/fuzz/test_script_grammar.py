"""The turns of generated scripts are what a provider says."""

from __future__ import annotations

from harness.fuzz.script_grammar import TURNS


def test_a_tool_of_the_providers_own_has_its_result() -> None:
    searches = 0
    for turn in TURNS:
        blocks = turn(0).blocks or ()
        asked = {b["id"] for b in blocks if b["type"] == "server_tool_use"}
        searches += len(asked)
        assert asked <= {b.get("tool_use_id") for b in blocks}
    assert searches
