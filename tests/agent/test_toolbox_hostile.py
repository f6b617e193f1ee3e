"""For any behaviour of a tool the model gets a result, the loop goes on, and the store is valid."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.agent import build
from harness.agent.toolbox import MAX_RESULT_CHARACTERS, TOOL_TIMEOUT_S, Toolbox
from harness.core.history.events import Noted
from harness.core.scenario.inbox import PAUSE_MS
from harness.core.scenario.scenario import Expect, InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.core.values.brief import Brief, Tool
from harness.core.values.messages import ToolResult
from harness.runner import Run, run
from harness.stores.jsonl import JsonlStore
from harness.stores.sqlite import SqliteStore

HUGE_BYTES = 100_000_000


def _scenario(*turns: ToolTurn) -> Scenario:
    """Two messages; the tool is called for each of them."""
    calls = (Turn(use="tool", input={"n": 1}), Turn(say="Here is what came of it."))
    again = (Turn(use="tool", input={"n": 2}), Turn(say="The same again."))
    return Scenario(
        name="hostile-tool",
        tools={"tool": ToolScript(script=turns)},
        inbox=(InboxItem(text="Go on."), InboxItem(text="And again.")),
        script=(*calls, *again),
        expect=Expect(outcome="completed", must=("outbound_once", "valid_request")),
    )


def _results(result: Run) -> list[ToolResult]:
    """What the model was told came of the calls."""
    told = [e.value for e in result.history.events if isinstance(e, Noted)]
    return [r for message in told for r in message.tool_results]


def _check(result: Run, is_error: bool) -> list[ToolResult]:
    # The scenario's tool worked, and what is around it misbehaves: only the content may differ.
    found = [f for f in result.verdict.findings if not f.code.startswith("result_carried.")]
    assert [f"{f.code}: {f.message}" for f in found] == []
    given = _results(result)
    assert [r.is_error for r in given] == [is_error] * 2
    assert all(r.text.strip() for r in given)
    return given


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        (ToolTurn(raises="the disk is on fire", times="forever"), "the disk is on fire"),
        (ToolTurn(raises="", times="forever"), "tool"),
        (ToolTurn(hang=True, times="forever"), "time"),
        (ToolTurn(hang=TOOL_TIMEOUT_S + 1, ok="too late", times="forever"), "time"),
        (ToolTurn(error="no such order", times="forever"), "no such order"),
    ],
    ids=["raises", "raises nothing", "hangs", "is late", "fails"],
)
def test_a_tool_of_the_scenario_that_fails_gives_an_error(turn: ToolTurn, said: str) -> None:
    given = _check(run(_scenario(turn), _agent), is_error=True)
    assert all(said in r.text.lower() for r in given)


def test_a_tool_that_hangs_costs_its_time_limit_and_no_more() -> None:
    result = run(_scenario(ToolTurn(hang=True, times="forever")), _agent)
    end_ms = result.history.events[-1].at_ms
    assert end_ms // (TOOL_TIMEOUT_S * 1000) == 2
    assert end_ms % (TOOL_TIMEOUT_S * 1000) <= PAUSE_MS[1]  # the user's, before the second message


@pytest.mark.parametrize(
    "turn",
    [
        ToolTurn(ok=None, times="forever"),
        ToolTurn(ok="", times="forever"),
        ToolTurn(ok=[], times="forever"),
        ToolTurn(ok=[{"type": "text", "text": " "}], times="forever"),
        ToolTurn(bytes=1_000_000, times="forever"),
        ToolTurn(hang=TOOL_TIMEOUT_S - 1, ok="just in time", times="forever"),
    ],
    ids=["None", "empty", "no blocks", "a blank block", "a megabyte", "slow"],
)
def test_a_tool_of_the_scenario_that_says_odd_things_gives_a_result(turn: ToolTurn) -> None:
    given = _check(run(_scenario(turn), _agent), is_error=False)
    assert all(len(r.text) < 2 * MAX_RESULT_CHARACTERS for r in given)


def _agent(brief: Brief) -> None:
    build(brief).run()


class _Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("not even this")


def _raising(error: BaseException) -> Callable[..., Any]:
    def call(input: Any, id: str) -> Any:
        raise error

    return call


def _endless() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


RETURNED: dict[str, Callable[..., Any]] = {
    "None": lambda input, id: None,
    "bytes": lambda input, id: b"\xff\x00raw",
    "100 MB": lambda input, id: "x" * HUGE_BYTES,
    "100 MB of bytes": lambda input, id: b"\x80" * HUGE_BYTES,
    "lone surrogate": lambda input, id: "half an emoji \ud83d",
    "lone surrogate in a block": lambda input, id: [{"type": "text", "text": "\udc00"}],
    "NUL": lambda input, id: "\x00",
    "a set": lambda input, id: {1, 2},
    "an object": lambda input, id: object(),
    "not a number": lambda input, id: {"value": float("nan")},
}
RAISED: dict[str, Callable[..., Any]] = {
    "an exception": _raising(RuntimeError("burnt")),
    "nothing to say": _raising(RuntimeError()),
    "lone surrogate": _raising(RuntimeError("\ud83d")),
    "100 MB": _raising(RuntimeError("x" * HUGE_BYTES)),
    "unprintable": _raising(_Unprintable()),
    "exit": lambda input, id: sys.exit(3),
    "recursion": lambda input, id: _endless(),
    "no memory": _raising(MemoryError()),
    "wrong signature": lambda: "never called",
}


def _with_tool(call: Callable[..., Any], store: str) -> Run:
    """The scenario with a tool that, once it has run, returns or raises what no file can say."""

    def agent(brief: Brief) -> None:
        [scripted] = brief.tools

        def hostile(input: Any, id: str) -> Any:
            scripted.call(input, id=id)
            return call(input, id)

        tool = Tool("tool", "Does as it likes", scripted.input_schema, hostile)
        (Path(brief.session_dir) / "session.db").touch()  # else nothing that passes is on disk
        build(brief, tools=Toolbox([tool])).run()
        _reopen(Path(brief.session_dir), store)

    return run(_scenario(), agent, options={"store": store})


def _reopen(folder: Path, store: str) -> None:
    """What was stored can be read by a process that comes later."""
    opened: Any = (
        SqliteStore(folder / "session.db")
        if store == "sqlite"
        else JsonlStore(folder / "session.jsonl")
    )
    assert "".join(row.message.role[0] for row in opened.load("main")) == "uaua" * 2
    assert opened.notes == []
    opened.close()


def _pairs(names: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, store) for name in names for store in ("sqlite", "jsonl")]


@pytest.mark.parametrize(("name", "store"), _pairs(RETURNED))
def test_whatever_a_tool_returns_is_a_result(name: str, store: str) -> None:
    given = _check(_with_tool(RETURNED[name], store), is_error=False)
    assert all(len(r.text) < 2 * MAX_RESULT_CHARACTERS for r in given)


@pytest.mark.parametrize(("name", "store"), _pairs(RAISED))
def test_whatever_a_tool_raises_is_an_error_result(name: str, store: str) -> None:
    given = _check(_with_tool(RAISED[name], store), is_error=True)
    assert all(len(r.text) < 2 * MAX_RESULT_CHARACTERS for r in given)
