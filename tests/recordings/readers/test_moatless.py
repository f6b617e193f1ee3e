"""Trees: a path from a root to a leaf is a transcript, with any damage of the links."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.errors import InputError
from harness.core.values.messages import Message, Text, ToolResult, ToolUse
from harness.recordings.readers import moatless
from harness.recordings.recognition import format_named
from harness.recordings.transcript_counts import counts
from harness.recordings.transcripts import Recording
from tests.recordings.documents import ASKED, SAMPLES, SEEN

MOATLESS = format_named("moatless")


def _node(id_: Any, parent: Any, **more: Any) -> dict[str, Any]:
    action = {"n": id_, "action_args_class": "m.StepArgs"}
    return {"node_id": id_, "parent_id": parent, "action": action, "observation": "o", **more}


def _read(*nodes: Any) -> Recording:
    return MOATLESS.read(json.dumps({"nodes": nodes}).encode())


def _paths(recording: Recording) -> dict[str, list[Any]]:
    """The ids on each path, by the name of its transcript."""
    return {
        t.name: [use.input["n"] for m in t.messages for use in m.tool_uses]
        for t in recording.transcripts
    }


def test_a_node_is_a_call_and_what_was_observed() -> None:
    (found,) = MOATLESS.read(SAMPLES["moatless"][1]).transcripts
    assert (found.name, found.task, found.system) == ("path to node 2", ASKED, "be brief")
    use = ToolUse("node_1", "List", {"path": "."})
    assert found.messages == (
        Message("assistant", (Text("look"), use)),
        Message("tool", (ToolResult("node_1", SEEN),)),
        Message("assistant", (ToolUse("node_2", "Finish", {}),)),
    )
    assert counts(found)["pending_calls"] == 1


def test_every_leaf_ends_a_path_and_paths_share_their_messages() -> None:
    recording = _read(_node(0, None), _node(1, 0), _node(2, 1), _node(3, 1), _node(4, 0))
    assert _paths(recording) == {
        "path to node 2": [0, 1, 2],
        "path to node 3": [0, 1, 3],
        "path to node 4": [0, 4],
    }
    first, second, _ = recording.transcripts
    assert all(a is b for a, b in zip(first.messages[:4], second.messages[:4], strict=True))


def test_children_may_be_nested() -> None:
    inner = [{**_node(2, None), "children": []}, _node(3, None)]
    root = {**_node(0, None), "children": [{**_node(1, None), "children": inner}]}
    wanted = {"path to node 2": [0, 1, 2], "path to node 3": [0, 1, 3]}
    for value in ({"root": root}, root):
        data = json.dumps(value).encode()
        assert MOATLESS.recognises(data)
        assert _paths(MOATLESS.read(data)) == wanted


def test_a_node_may_hold_several_steps_and_a_word_of_the_user() -> None:
    steps = [{"action": {"thoughts": "hm"}, "observation": {"message": "x"}}, {"action": {}}]
    node = {"node_id": 1, "parent_id": 0, "action_steps": steps, "user_message": "go on"}
    (found,) = _read(_node(0, None), node).transcripts
    assert [m.role for m in found.messages[2:]] == ["user", "assistant", "tool", "assistant"]
    uses = [use.id for m in found.messages for use in m.tool_uses]
    assert uses == ["node_0", "node_1_step_1", "node_1_step_2"]


@pytest.mark.parametrize(
    ("observation", "failed"),
    [
        ({"message": "x", "expect_correction": True}, True),
        ({"message": "x", "properties": {"fail_reason": "no_changes"}}, True),
        ({"message": "x", "expect_correction": False, "properties": {}}, False),
        ("x", False),
    ],
)
def test_an_observation_may_say_that_the_action_failed(observation: Any, failed: bool) -> None:
    (found,) = _read(_node(0, None, observation=observation)).transcripts
    assert found.messages[1].tool_results == (ToolResult("node_0", "x", failed),)


def test_broken_links_are_refusals_and_the_rest_is_read() -> None:
    recording = _read(
        _node(0, None), _node(0, None), _node(1, 99), _node(5, 6), _node(6, 5), _node(7, 7),
        {}, _node(None, None), _node("", 0),
    )  # fmt: skip
    assert _paths(recording) == {"path to node 0": [0], "path to node 1": [1]}
    assert recording.refused == {
        "its id is another node's": 1,
        "its parent is missing": 1,
        "its parents form a loop": 3,
        "it has no id": 3,
    }


def test_a_loop_alone_is_no_transcript() -> None:
    recording = _read(_node(0, 1), _node(1, 0))
    assert recording.transcripts == ()
    assert recording.refused == {"its parents form a loop": 2}


@given(st.lists(st.integers(-1, 12), max_size=12))
def test_every_node_is_on_a_path_or_refused(parents: list[int]) -> None:
    nodes = [_node(n, None if p < 0 else p) for n, p in enumerate(parents)]
    if not nodes:
        return
    recording = _read(*nodes)
    on_paths = {n for path in _paths(recording).values() for n in path}
    looped = {int(r.place.split()[1]) for r in recording.refusals if "loop" in r.what}
    assert on_paths | looped == set(range(len(parents)))
    assert not on_paths & looped
    leaves = Counter(path[-1] for path in _paths(recording).values())
    assert not any(count > 1 for count in leaves.values())
    for path in _paths(recording).values():
        assert all(parents[child] == parent for parent, child in pairwise(path))


def test_the_work_grows_with_the_nodes_not_with_their_square(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_nodes: list[str] = []
    real = moatless._messages

    def counted(id_: str, node: Any, is_root: bool) -> Any:
        read_nodes.append(id_)
        return real(id_, node, is_root)

    monkeypatch.setattr(moatless, "_messages", counted)
    spine = [_node(n, n - 1 if n else None) for n in range(500)]
    teeth = [_node(n + 500, n) for n in range(500)]
    assert len(_read(*spine, *teeth).transcripts) == 500
    assert len(read_nodes) == 1000, "each node is read once, however many paths share it"


def test_the_paths_together_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moatless, "MAX_MESSAGES", 9)
    recording = _read(_node(0, None), _node(1, 0), _node(2, 0), _node(3, 0))
    assert list(_paths(recording)) == ["path to node 1", "path to node 2"]
    assert [(r.place, r.what) for r in recording.refusals] == [
        ("node 3", "the paths hold more than 9 messages")
    ]


@pytest.mark.parametrize("data", [b"{}", b"[]", b'{"nodes": []}', b'{"root": {"a": 1}}'])
def test_what_has_no_nodes_is_refused(data: bytes) -> None:
    assert not MOATLESS.recognises(data)
    with pytest.raises(InputError, match="a list nodes or a root"):
        MOATLESS.read(data)
