"""Generates the model's turns and the tools' outcomes: numbers index tables of both.

Drawn turns are optional, because the agent decides how many it asks for. A repeating turn follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import msgspec

from harness.core.scenario.scenario import ApprovalTurn, Times, ToolScript, ToolTurn, Turn
from harness.core.values.messages import Json
from harness.fuzz.choice_sequence import Choose, pick, some
from harness.fuzz.text_grammar import (
    BLANKS,
    LARGE_NUMBER,
    RICH_WORDS,
    UNEVEN,
    WORDS,
    marked,
    word,
)
from harness.providers import record

TOOLS: dict[str, dict[str, Json]] = {
    "ping": {"type": "object", "properties": {}},
    "look_up": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "most": {"type": "integer"}},
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
"""A tool of the provider's own, which may pause a turn."""

_SEARCHED: dict[str, Json] = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [],
}
"""The provider gives the result itself, here or where it goes on. An agent rightly takes out a
search that never has one, and the next request then begins differently."""

EXCESSIVE_TOKENS = 3_000_000
"""Output tokens of one very long answer; a turn should not pay for two of them."""

TURNS: tuple[Callable[[int], Turn], ...] = (
    lambda n: Turn(say=word(n)),
    lambda n: Turn(use="ping"),
    lambda n: Turn(say=word(n), use="look_up", input={"name": word(n)}),
    lambda n: Turn(think="Hm.", say=word(n)),
    lambda n: Turn(blocks=(_use("ping"), _look_up(n))),
    lambda n: Turn(blocks=(_THOUGHT, *(_look_up(n + i) for i in range(4)))),
    lambda n: Turn(use="look_up", input={"name": word(n), "most": LARGE_NUMBER}),
    lambda n: Turn(blocks=({"type": "text", "text": word(n)}, {"type": "text", "text": "And so."})),
    lambda n: Turn(blocks=()),
    lambda n: Turn(say=BLANKS[n % len(BLANKS)]),
    lambda n: Turn(blocks=(_THOUGHT,)),
    lambda n: Turn(use="look_up", unoffered=True),
    lambda n: Turn(use="no_such_tool", unoffered=True),
    lambda n: Turn(blocks=(_look_up(n, "same"), _look_up(n + 1, "same"))),
    lambda n: Turn(blocks=(_look_up(n, "old_1"),)),
    lambda n: Turn(say=word(n), stop="max_tokens"),
    lambda n: Turn(blocks=(_look_up(n),), stop="max_tokens"),
    lambda n: Turn(say=word(n), use="look_up", input={"name": word(n)}, stop="end_turn"),
    lambda n: Turn(say=word(n), stop="tool_use"),
    lambda n: Turn(
        blocks=({"type": "text", "text": word(n)}, _SEARCH, _SEARCHED),
        stop="pause_turn",
        unoffered=True,
    ),
    lambda n: Turn(say=word(n), stop="refusal"),
    lambda n: Turn(blocks=(), stop="refusal"),
    lambda n: Turn(blocks=(_look_up(n), {"type": "text", "text": word(n)})),
    lambda n: Turn(blocks=(_THOUGHT, {"type": "text", "text": " "}, _use("ping"))),
    lambda n: Turn(blocks=(_look_up(n),), usage={"output_tokens": EXCESSIVE_TOKENS}),
)
"""The turns of a model, simple ones first."""

CALL = Turn(use="ping", optional=True)
"""The plainest call."""

WORK = Turn(blocks=(_look_up(0), _use("ping"), _look_up(1)), optional=True)
"""Three calls, of which a user may cancel the later ones."""

PLAIN = 8
"""The number of turns, from the first, that are answers or calls that keep to the tool's schema."""

OUTCOMES: tuple[ToolTurn, ...] = (
    ToolTurn(ok=marked("found")),
    ToolTurn(error=marked("not found")),
    ToolTurn(ok=""),
    ToolTurn(ok=[{"type": "text", "text": "a"}, {"type": "text", "text": " "}]),
    ToolTurn(ok=[]),
    ToolTurn(raises="broken"),
    ToolTurn(error=""),
    ToolTurn(bytes=500),
    ToolTurn(error=UNEVEN),
    ToolTurn(ok=[{"type": "text", "text": text} for text in RICH_WORDS[:3]]),
    *(ToolTurn(ok=text) for text in RICH_WORDS),
    ToolTurn(error=RICH_WORDS[-1]),
    ToolTurn(ok=marked("TERMINATE")),
    *(ToolTurn(ok=marked("found"), hang=2.0),) * 3,
)
"""The outcomes of a tool. A slow one is still running when the user cancels."""

EDITED: dict[str, Json] = {"name": marked("Zoe")}
"""The input that a user gives in place of the model's; it fits `look_up`."""

APPROVALS: tuple[ApprovalTurn, ...] = (
    ApprovalTurn(),
    ApprovalTurn(answer="deny", reason=marked("Not before Monday.")),
    ApprovalTurn(after_s=300),
    ApprovalTurn(answer="expire", after_s=900),
    ApprovalTurn(answer="always"),
    ApprovalTurn(names="call_of_a_neighbour"),
    ApprovalTurn(input=EDITED),
)
"""What a user answers to the question about a call; the edit last, for a tool that takes it."""

LAST = Turn(say="Done.", times="forever", optional=True)
SUMMARY = Turn(say="They greeted each other.", times="forever", optional=True, purpose="compact")

LASTS: tuple[Turn, ...] = (
    *(LAST,) * 12,
    Turn(use="ping", times="forever", optional=True),
    Turn(use="look_up", input={"name": "Ada"}, times="forever", optional=True),
    Turn(use="look_up", times="forever", optional=True, unoffered=True),
    Turn(blocks=(), times="forever", optional=True),
)
"""The turn after all others: mostly an end, else a model that does not end."""

ODD_LASTS = 2
"""The number of turns among the last that are neither an answer nor a whole call."""

TIMES: tuple[Times, ...] = (1, 1, 1, 1, 2, 4, 9)
"""How often a turn is played."""

Tools: TypeAlias = Mapping[str, Mapping[str, Json]]


def script_of(
    choose: Choose,
    max_turns: int = 8,
    wire: str = "anthropic",
    *,
    spirals: bool = True,
    odd: bool = True,
) -> tuple[Turn, ...]:
    """Return the model's script: some turns, one that repeats forever, and a summary.

    `spirals`: it may repeat a turn many times, and without end. `odd`: it may have turns that are
    neither an answer nor a whole call.
    """
    often = TIMES if spirals else TIMES[:1]
    known = TURNS if odd else TURNS[:PLAIN]
    if not record(wire).server_tools:
        known = tuple(turn for turn in known if _SEARCH not in turn(0).blocks)
    # The ways to say one turn stand together, so that a smaller number is a plainer one.
    ways = len(WORDS) * len(often)
    said = [
        _repeated(known[n // ways], n % ways)
        for n in some(choose, len(known) * ways, max_turns, mean=3)
    ]
    lasts = LASTS[: len(LASTS) if odd else -ODD_LASTS] if spirals else LASTS[:1]
    return (*said, pick(choose, lasts), SUMMARY)


def _repeated(turn: Callable[[int], Turn], number: int) -> Turn:
    times = TIMES[number // len(WORDS)]
    return msgspec.structs.replace(turn(number % len(WORDS)), optional=True, times=times)


def tools_of(
    choose: Choose, tools: Tools = TOOLS, *, approvals: bool = False
) -> dict[str, ToolScript]:
    """Return the tools with their scripts; the last answer of a script repeats forever.

    `approvals`: the calls of some tools need the user's approval.
    """
    return {
        name: ToolScript(
            input_schema=dict(schema),
            script=outcomes_of(choose),
            approval=_approval_of(choose, schema) if approvals else (),
        )
        for name, schema in tools.items()
    }


def _approval_of(choose: Choose, schema: Mapping[str, Json]) -> tuple[ApprovalTurn, ...]:
    """Return the user's answers about one tool, none if its calls need no approval.

    The last answer repeats. So it is not one about another call, after which an agent asks again,
    and no edit, by which all calls become one.
    """
    is_edited = set(EDITED) <= set(schema.get("properties", ()))
    kinds = len(APPROVALS) - (not is_edited)
    given = tuple(APPROVALS[n] for n in some(choose, kinds, 3, mean=1))
    is_odd = bool(given) and (bool(given[-1].names) or given[-1].input is EDITED)
    return (*given, APPROVALS[0]) if is_odd else given


def outcomes_of(choose: Choose) -> tuple[ToolTurn, ...]:
    """Return a tool's script: a few outcomes, of which the last repeats forever."""
    given = [OUTCOMES[n] for n in some(choose, len(OUTCOMES), 3, mean=1)] or [OUTCOMES[0]]
    return (*given[:-1], msgspec.structs.replace(given[-1], times="forever"))
