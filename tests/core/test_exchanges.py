"""Runs and results find their calls, also where ids are shared or changed."""

from __future__ import annotations

import pytest

from harness.core.history.call_pairing import CallPairing
from harness.core.history.events import Called
from harness.core.history.exchanges import (
    Ask,
    Exchange,
    Execution,
    Node,
    grow,
    root,
)
from harness.core.values.calls import ModelRequest, ToolRequest
from harness.core.values.messages import Message, ToolResult, ToolUse, assistant, digest, results


def _exchange(n: int, reply: Message | None = None) -> Exchange:
    request = ModelRequest("m", ())
    called = Called(n=n, key=f"main/model#{n}", seam="model", request=request, session="main")
    return Exchange(called, request, root(), reply=reply)


def _nodes(*messages: Message) -> tuple[Node, ...]:
    return grow(root(), ((digest(message), message) for message in messages)).tail()


def _run(asked: CallPairing, request: ToolRequest) -> Ask | None:
    ask = asked.run(request, "main")
    if ask is not None and ask.execution is None:
        called = Called(n=9, key="main/tool#1", seam="tool", request=request, session="main")
        ask.execution = Execution(called, request, ask)
    return ask


def _look(id: str, name: str) -> ToolUse:
    return ToolUse(id, "look_up", {"name": name})


def test_a_run_belongs_to_the_latest_call_of_its_id() -> None:
    asked = CallPairing()
    asked.see_answer(_exchange(1, assistant(_look("same", "Ada"))))
    (second,) = asked.see_answer(_exchange(2, assistant(_look("same", "Ada"))))
    assert _run(asked, ToolRequest("same", "look_up", {"name": "Ada"})) is second
    assert _run(asked, ToolRequest("same", "look_up", {"name": "Ada"})) is second
    assert _run(asked, ToolRequest("other", "look_up", {"name": "Ada"})) is None


def test_calls_of_one_answer_that_share_an_id_are_told_apart_by_their_input() -> None:
    asked = CallPairing()
    one, two = asked.see_answer(_exchange(1, assistant(_look("x", "Ada"), _look("x", "Bob"))))
    assert _run(asked, ToolRequest("x", "look_up", {"name": "Bob"})) is two
    assert _run(asked, ToolRequest("x", "look_up", {"name": "changed"})) is one


def test_a_run_under_an_id_that_no_answer_has_is_known_by_its_tool() -> None:
    asked = CallPairing()
    reply = assistant(_look("call_1", "Ada"), _look("call_2", "Bob"))
    ada, bob = asked.see_answer(_exchange(1, reply))
    assert _run(asked, ToolRequest("fc_2", "look_up", {"name": "Bob"})) is bob
    assert _run(asked, ToolRequest("fc_9", "delete", {"name": "Ada"})) is None
    assert _run(asked, ToolRequest("fc_1", "look_up", {"name": "Ada", "all": True})) is ada
    assert _run(asked, ToolRequest("fc_1", "look_up", {"name": "Ada"})) is None
    asked.see_answer(_exchange(2, assistant(_look("call_3", "Eve"))))
    assert asked.run(ToolRequest("fc_3", "look_up", {"name": "Eve"}), "other") is None


@pytest.mark.parametrize("asked_for", [("Ada", "Bob"), ("Ada", "Ada")])
@pytest.mark.parametrize("is_turned", [False, True])
def test_a_result_under_a_new_id_is_known_by_the_input_of_its_call_else_by_its_place(
    asked_for: tuple[str, str], is_turned: bool
) -> None:
    """Where a block begins twice, clients differ in which of both calls has the input."""
    asked = CallPairing()
    reply = assistant(*(_look("x", name) for name in asked_for))
    one, two = asked.see_answer(_exchange(1, reply))
    first, second = reversed(asked_for) if is_turned else asked_for
    kept = ToolResult("x", "found"), ToolResult("x_2", "not run")
    sent = [assistant(_look("x", first), _look("x_2", second)), results(*kept)]
    asked.see_results(_exchange(2), _nodes(*sent))
    assert (one.sent, two.sent) == (kept[::-1] if first != asked_for[0] else kept)
    assert (one.sent_n, two.sent_n) == (2, 2)


@pytest.mark.parametrize("said", ["", "Let me see."])
def test_calls_of_one_id_may_be_sent_one_by_one(said: str) -> None:
    """On a wire of items the first one may join words that stood last in the request."""
    asked, first = CallPairing(), _exchange(1, assistant(_look("x", "Ada"), _look("x", "Bob")))
    start, words = first.node, [said] if said else []
    first.node = grow(start, ((digest(m), m) for m in map(assistant, words)))
    one, two = asked.see_answer(first)
    kept = ToolResult("x", "found"), ToolResult("x_2", "not run")
    sent = [
        *(assistant(*words, _look("x", "Ada")), results(kept[0])),
        *(assistant(_look("x_2", "Bob")), results(kept[1])),
    ]
    nodes = grow(start, ((digest(message), message) for message in sent)).tail(start)
    asked.see_results(_exchange(2), nodes)
    assert (one.sent, two.sent) == kept


def test_calls_of_one_id_of_which_some_are_left_out_are_known_by_their_input() -> None:
    asked, names = CallPairing(), ("Ada", "Ada", "Bob", "Bob")
    asks = asked.see_answer(_exchange(1, assistant(*(_look("x", name) for name in names))))
    own = [_look(f"own_{n}", name) for n, name in enumerate(names[1:])]
    kept = [ToolResult(use.id, "found") for use in own]
    asked.see_results(_exchange(2), _nodes(assistant(*own), results(*kept)))
    assert [ask.sent for ask in asks] == [kept[0], None, *kept[1:]]


def test_only_the_first_result_counts_and_a_strange_one_is_nobodys() -> None:
    asked = CallPairing()
    (ask,) = asked.see_answer(_exchange(1, assistant(_look("x", "Ada"))))
    asked.see_results(_exchange(2), _nodes(results(ToolResult("y", "?"), ToolResult("x", "found"))))
    asked.see_results(_exchange(3), _nodes(results(ToolResult("x", "again"))))
    assert ask.sent == ToolResult("x", "found")
    assert ask.sent_n == 2


def test_a_message_may_hold_the_renamed_calls_of_two_answers() -> None:
    asked = CallPairing()
    (one,) = asked.see_answer(_exchange(1, assistant(_look("c1", "Ada"))))
    own = _look("own1", "Ada"), _look("own2", "Bob")
    kept = ToolResult("own1", "a"), ToolResult("own2", "b")
    asked.see_results(_exchange(2), _nodes(assistant(own[0]), results(kept[0])))
    (two,) = asked.see_answer(_exchange(3, assistant(_look("c2", "Bob"))))
    asked.see_results(_exchange(4), _nodes(assistant(*own), results(*kept)))
    assert (one.sent, two.sent) == kept


def test_an_older_call_of_that_tool_in_a_whole_list_is_not_the_last_one_renamed() -> None:
    asked = CallPairing()
    (ask,) = asked.see_answer(_exchange(1, assistant(_look("new", "Ada"))))
    sent = [
        assistant(_look("old", "Ada")),
        results(ToolResult("old", "found")),
        assistant(_look("new", "Ada")),
        results(ToolResult("new", "interrupted", True)),
    ]
    asked.see_results(_exchange(2), _nodes(*sent))
    assert ask.sent == ToolResult("new", "interrupted", True)


@pytest.mark.parametrize("is_older", [True, False])
def test_a_call_that_stood_before_the_answer_is_not_the_answers_renamed(is_older: bool) -> None:
    """A restart has lost the answer, and sends the stored past whole."""
    stored = [assistant(_look("old", "Ada")), results(ToolResult("old", "(no output)"))]
    past = grow(root(), ((digest(message), message) for message in stored))
    first = _exchange(1, assistant(_look("new", "Ada")))
    if is_older:
        first.node = past
    asked = CallPairing()
    (ask,) = asked.see_answer(first)
    asked.see_results(_exchange(2), past.tail())
    assert (ask.sent is None) == is_older


def test_the_result_of_an_older_call_of_that_id_is_not_that_of_the_last_one_renamed() -> None:
    asked = CallPairing()
    (ask,) = asked.see_answer(_exchange(1, assistant(_look("same", "Ada"))))
    sent = [
        assistant(_look("same", "Ada")),
        results(ToolResult("same", "found")),
        assistant(_look("same_2", "Ada")),
        results(ToolResult("same_2", "interrupted", True)),
    ]
    asked.see_results(_exchange(2), _nodes(*sent))
    assert ask.sent == ToolResult("same_2", "interrupted", True)


def test_an_older_result_of_another_tool_is_not_that_of_a_call_with_its_id() -> None:
    asked = CallPairing()
    (ask,) = asked.see_answer(_exchange(1, assistant(_look("old", "Ada"))))
    sent = [assistant(ToolUse("old", "ping", {})), results(ToolResult("old", "found"))]
    asked.see_results(_exchange(2), _nodes(*sent))
    assert ask.sent is None


@pytest.mark.parametrize("id", ["new", "own"])
def test_a_call_stands_under_the_name_of_the_tool_that_ran(id: str) -> None:
    """An API takes no name with a dot, so an agent sends the one that it has repaired."""
    asked = CallPairing()
    said = ToolUse("new", "functions.look_up", {"name": "Ada"})
    (ask,) = asked.see_answer(_exchange(1, assistant(said)))
    assert _run(asked, ToolRequest("new", "look_up", {"name": "Ada"})) is ask
    sent = [assistant(_look(id, "Ada")), results(ToolResult(id, "found"))]
    asked.see_results(_exchange(2), _nodes(*sent))
    assert ask.sent == ToolResult(id, "found")
