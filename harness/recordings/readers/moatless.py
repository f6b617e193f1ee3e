"""Moatless trees: nodes of a search, each with an action and its observation.

Nodes are a flat list with parents, or nested as `children`; each path from root to leaf is a
transcript. The sum of steps is bounded, because a tree has far more steps on its paths than nodes.
A node with a missing parent is a root; nodes in a circle belong to no path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.core.values.errors import InputError
from harness.core.values.messages import Json, Message, user
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents
from harness.recordings.recording_format import recognised_by
from harness.recordings.transcripts import Recording, Refusal, TrajectoryStep, Transcript

MAX_MESSAGES = 1_000_000
"""The most messages on all paths of one tree together."""

_SUFFIX = re.compile(r"(Action)?(Args|Arguments)$")


def _is_moatless(data: bytes) -> bool:
    value = f.mapping(json_documents.peek(data, b'"node_id"'))
    nodes = f.objects(value.get("nodes")) or f.objects([value.get("root"), value])
    return any("node_id" in node for node in nodes[:2])


@recognised_by(_is_moatless)
def moatless(document: bytes) -> Recording:
    """moatless tree.

    A tree; raises InputError when it has no node.
    """
    value = f.mapping(json_documents.load(document))
    tree = _SearchTree(value)
    if not tree.nodes:
        raise InputError("a tree has a list nodes or a root, this has none", "line 1")
    system = f.text(f.mapping(value.get("agent")).get("system_prompt"))
    transcripts = tuple(tree.transcripts(system))
    return Recording(transcripts, tuple(tree.refusals))


class _SearchTree:
    def __init__(self, value: dict[str, Json]) -> None:
        self.nodes: dict[str, dict[str, Json]] = {}
        self.children: dict[str, list[str]] = {}
        self.refusals: list[Refusal] = []
        self._seen: set[str] = set()
        parents: dict[str, str] = {}
        for id_, parent, node in _flat(value):
            if not id_ or id_ in self.nodes:
                why = "its id is another node's" if id_ else "it has no id"
                self._refuse(id_ or "without an id", why)
                continue
            self.nodes[id_], parents[id_] = node, parent
        for id_, parent in parents.items():
            if parent and parent not in self.nodes:
                self._refuse(id_, "its parent is missing")
            self.children.setdefault(parent if parent in self.nodes else "", []).append(id_)

    def _refuse(self, id_: str, reason: str) -> None:
        self.refusals.append(Refusal(f"node {id_}", reason))

    def transcripts(self, system: str) -> Iterator[Transcript]:
        left = MAX_MESSAGES
        for root in self.children.get("", ()):
            task = _asked(self.nodes[root])
            for leaf, path in self._paths(root):
                left -= len(path)
                if left < 0:
                    self._refuse(leaf, f"the paths hold more than {MAX_MESSAGES} messages")
                    return
                name = f"path to node {leaf}"
                yield Transcript(name=name, messages=tuple(path), system=system, task=task)
        for id_ in self.nodes:
            if id_ not in self._seen:
                self._refuse(id_, "its parents form a loop")

    def _paths(self, root: str) -> Iterator[tuple[str, list[Message]]]:
        """Each leaf with the messages on its path: one list, which each step changes."""
        path: list[Message] = []
        waiting = [(root, 0)]
        while waiting:
            id_, kept = waiting.pop()
            self._seen.add(id_)
            del path[kept:]
            path += tuple(_messages(id_, self.nodes[id_], is_root=id_ == root))
            below = self.children.get(id_, ())
            if not below:
                yield id_, path
            waiting += [(child, len(path)) for child in reversed(below)]


def _flat(value: dict[str, Json]) -> Iterator[tuple[str, str, dict[str, Json]]]:
    """Each node with its id and its parent's; a missing id is ""."""
    if "nodes" in value:
        for node in f.objects(value["nodes"]):
            yield _id(node.get("node_id")), _id(node.get("parent_id")), node
        return
    waiting = [("", f.mapping(value.get("root")) or value)]
    while waiting:
        parent, node = waiting.pop()
        if "node_id" in node:
            id_ = _id(node["node_id"])
            yield id_, parent, node
            waiting += [(id_, child) for child in reversed(f.objects(node.get("children")))]


def _id(value: Json) -> str:
    return "" if value is None else value if isinstance(value, str) else f.json_text(value)


def _asked(node: dict[str, Json]) -> str:
    return f.text(node.get("user_message")) or f.text(node.get("message"))


def _messages(id_: str, node: dict[str, Json], is_root: bool) -> Iterator[Message]:
    if _asked(node) and not is_root:
        yield user(_asked(node))
    steps = f.objects(node.get("action_steps")) or [node]
    for number, step in enumerate(steps, start=1):
        if isinstance(step.get("action"), dict):
            name = f"node_{id_}" if len(steps) == 1 else f"node_{id_}_step_{number}"
            yield from _step(name, step["action"], step.get("observation")).messages()


def _step(id_: str, action: dict[str, Json], observation: Json) -> TrajectoryStep:
    seen = f.mapping(observation)
    told = seen.get("message") if seen else observation
    rest = {k: v for k, v in action.items() if k not in ("scratch_pad", "thoughts", _CLASS)}
    has_reason = "fail_reason" in f.mapping(seen.get("properties"))
    return TrajectoryStep(
        id=id_,
        name=_SUFFIX.sub("", f.text(action.get(_CLASS)).rpartition(".")[2]) or "action",
        input=rest,
        thought=f.text(action.get("scratch_pad")) or f.text(action.get("thoughts")),
        observation=None if observation is None else f.as_text(told),
        failed=has_reason or seen.get("expect_correction") is True,
    )


_CLASS = "action_args_class"
