"""What a generated model, its tools and its user say: integers that index tables of turns.

Behind the drawn turns stands one that is said for ever, so that an agent always gets an answer. No
turn is owed, for how many an agent asks for is its own affair.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from hypothesis import strategies as st

from harness.campaign.words import BLANKS, WORDS, word
from harness.core.messages import Json
from harness.core.scenario import InboxItem, ToolScript, ToolTurn, Turn

TOOLS: dict[str, dict[str, Json]] = {
    "ping": {"type": "object", "properties": {}},
    "look_up": {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
    },
}
"""The tools of generated scenarios, by name: the schema of the input."""


def _use(name: str, input: Json = None, id: str = "") -> dict[str, Json]:
    return {"type": "tool_use", "id": id, "name": name, "input": {} if input is None else input}


def _look_up(number: int, id: str = "") -> dict[str, Json]:
    return _use("look_up", {"name": word(number)}, id)


_THOUGHT: dict[str, Json] = {"type": "thinking", "text": "Hm.", "signature": "c2lnbmVk"}

_SEARCH: dict[str, Json] = {
    "type": "server_tool_use",
    "id": "srvtoolu_1",
    "name": "web_search",
    "input": {"query": "Ada"},
}
"""A tool of the provider's own, which may make a turn pause."""

TURNS: tuple[Callable[[int], Turn], ...] = (
    lambda n: Turn(say=word(n)),
    lambda n: Turn(use="ping"),
    lambda n: Turn(say=word(n), use="look_up", input={"name": word(n)}),
    lambda n: Turn(think="Hm.", say=word(n)),
    lambda n: Turn(blocks=(_use("ping"), _look_up(n))),
    lambda n: Turn(blocks=(_THOUGHT, *(_look_up(n + i) for i in range(4)))),
    lambda n: Turn(blocks=()),
    lambda n: Turn(say=BLANKS[n % len(BLANKS)]),
    lambda n: Turn(blocks=(_THOUGHT,)),
    lambda n: Turn(use="look_up"),
    lambda n: Turn(use="no_such_tool"),
    lambda n: Turn(blocks=(_look_up(n, "same"), _look_up(n + 1, "same"))),
    lambda n: Turn(blocks=(_look_up(n, "old_1"),)),
    lambda n: Turn(say=word(n), stop="max_tokens"),
    lambda n: Turn(blocks=(_look_up(n),), stop="max_tokens"),
    lambda n: Turn(blocks=(_look_up(n),), stop="end_turn"),
    lambda n: Turn(say=word(n), stop="tool_use"),
    lambda n: Turn(blocks=({"type": "text", "text": word(n)}, _SEARCH), stop="pause_turn"),
    lambda n: Turn(say=word(n), stop="refusal"),
    lambda n: Turn(blocks=(), stop="refusal"),
    lambda n: Turn(blocks=(_look_up(n), {"type": "text", "text": word(n)})),
    lambda n: Turn(blocks=(_THOUGHT, {"type": "text", "text": " "}, _use("ping"))),
)
"""What a model may say, simple things first."""

OUTCOMES: tuple[ToolTurn, ...] = (
    ToolTurn(ok="found"),
    ToolTurn(error="not found"),
    ToolTurn(ok=""),
    ToolTurn(ok=[{"type": "text", "text": "a"}, {"type": "text", "text": " "}]),
    ToolTurn(ok=[]),
    ToolTurn(raises="broken"),
    ToolTurn(error=""),
    ToolTurn(bytes=500),
)
"""What a tool may answer."""

LAST = Turn(say="Done.", times="forever", optional=True)
SUMMARY = Turn(say="They greeted each other.", times="forever", optional=True, purpose="compact")

_TURN = st.integers(0, len(TURNS) * len(WORDS) - 1)
_OUTCOME = st.integers(0, len(OUTCOMES) - 1)
_TEXTS = (*WORDS, *BLANKS)
_FIRST = st.integers(0, len(WORDS) - 1)
_KINDS = len(_TEXTS) + 4
_FURTHER = st.lists(st.integers(0, 2 * _KINDS - 1), max_size=4)


@st.composite
def scripts(draw: st.DrawFn) -> tuple[Turn, ...]:
    """Scripts of the model: at most eight turns, one that never ends, and a summary."""
    numbers = draw(st.lists(_TURN, max_size=8))
    turns = (TURNS[n % len(TURNS)](n // len(TURNS)) for n in numbers)
    return (*(msgspec.structs.replace(t, optional=True) for t in turns), LAST, SUMMARY)


@st.composite
def tools(draw: st.DrawFn) -> dict[str, ToolScript]:
    """The tools with their scripts; the last answer of a script is given for ever."""
    return {name: _tool(schema, draw(st.lists(_OUTCOME, max_size=3))) for name, schema in _OFFERED}


_OFFERED = tuple(TOOLS.items())


def _tool(schema: dict[str, Json], numbers: list[int]) -> ToolScript:
    turns = [OUTCOMES[n] for n in numbers] or [OUTCOMES[0]]
    turns[-1] = msgspec.structs.replace(turns[-1], times="forever")
    return ToolScript(input_schema=schema, script=tuple(turns))


@st.composite
def inboxes(draw: st.DrawFn) -> tuple[InboxItem, ...]:
    """One to five messages in two sessions; from the second on some are blank, or come again."""
    items = [InboxItem(id="m1", text=word(draw(_FIRST)))]
    for place, number in enumerate(draw(_FURTHER), start=2):
        side, kind = divmod(number, _KINDS)
        if kind < len(_TEXTS):
            session = "side" if side else "main"
            items.append(InboxItem(id=f"m{place}", text=_TEXTS[kind], session=session))
        else:
            items.append(items[(kind - len(_TEXTS)) % len(items)])
    return tuple(items)
