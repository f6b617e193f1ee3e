"""Generates children that work in the background: what they do, and when and how they end.

The turns of a child stand in the script of its parent, under a text that only the child's requests
have. Its requests may come at any point, so a copy of them stands behind each turn of the parent.
A child that is lost in a restart needs no draw here: faults that end the agent are drawn beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    RequestText,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.values.messages import Json
from harness.fuzz.choice_sequence import Choose, pick, sometimes
from harness.fuzz.text_grammar import marked

TASK = "task"
"""The tool that starts a child, as the scenarios of the catalogue name it."""

LOOK = "look_around"
"""The tool of the children. A child's run in an equal way to its parent's would be one series."""

TOOLS = {
    LOOK: ToolScript(
        input_schema={"type": "object", "properties": {"name": {"type": "string"}}},
        script=(ToolTurn(ok=marked("I see a hole in the ground."), times="forever"),),
    )
}

CHILDREN_MOST = 2

STEPS_MOST = 2

LAST_COPIES = 3
"""How often the parent may go on between the turns of its children, at the end of its script."""

ONE_MORE, NO_MORE = 2, 1
"""The weights of one more child, and of no more."""

ENDS: tuple[tuple[Turn, ...], ...] = (
    (Turn(say=marked("I found seventeen rabbits under the old oak.")),),
    (Turn(use=LOOK), Turn(say=marked("There are five hares in the wet meadow."))),
    (Turn(say=marked("Under the oak there are at least"), stop="max_tokens"),),
    (Turn(blocks=(), stop="refusal"),),
)
"""What a child does: it answers, works first, is cut off, or its model refuses."""


def _at(kind: str, **settings: Json) -> FaultSpec:
    return FaultSpec(kind=kind, on="child", must_fire=False, settings=settings)


_WAITS = tuple(_at("transport.latency", wait_s=wait_s) for wait_s in (1.0, 5.0, 50.0, 7200.0))
_KILL = FaultSpec(
    kind="gateway.killed", on="inbox", when=2, must_fire=False, settings={"at": "after"}
)

HAPPENS: tuple[tuple[FaultSpec, ...], ...] = (
    *((),) * 3,
    *((wait,) for wait in _WAITS),
    (_at("http.invalid_request"),),
    (_at("sse.end_twice"),),
    (_WAITS[-1], _KILL),
)
"""What happens to the children of a run: mostly nothing or a wait, else one dies or ends twice, or
is lost in a restart. A child that waits ends in a later turn, between two turns, or after all."""

LATER_MS = 24 * 3_600_000

LAST_MESSAGE = InboxItem(id="day", text="Are you still there?", when={"ms": LATER_MS})
"""The last message where there are children: a turn in which their parent can read of each."""


class Children(NamedTuple):
    """The calls that start the children, the turns of all of them, and what happens to them."""

    calls: tuple[Turn, ...] = ()
    turns: tuple[Turn, ...] = ()
    happens: tuple[FaultSpec, ...] = ()

    @property
    def tools(self) -> dict[str, ToolScript]:
        """The tools of their own."""
        return TOOLS if any(turn.use == LOOK for turn in self.turns) else {}

    @property
    def messages(self) -> tuple[InboxItem, ...]:
        """The message that comes last because of them."""
        return (LAST_MESSAGE,) if self.calls else ()

    def faults(self, stream: bool, kills: bool) -> tuple[FaultSpec, ...]:
        """The faults that a run can show: some need a stream, and some end the agent."""
        return tuple(
            fault
            for fault in self.happens
            if (stream or not fault.kind.startswith("sse.")) and (kills or fault is not _KILL)
        )


NONE = Children()


def children_of(choose: Choose) -> Children:
    """Return the children of a run, mostly one or two; `NONE` without a child."""
    calls, own = list[Turn](), list[Turn]()
    while len(calls) < CHILDREN_MOST and sometimes(choose, ONE_MORE, NO_MORE) is not None:
        number = len(calls) + 1
        calls.append(_call(number))
        own += _steps(pick(choose, ENDS), number)
    return Children(tuple(calls), tuple(own), pick(choose, HAPPENS)) if calls else NONE


def with_children(script: Sequence[Turn], children: Children) -> tuple[Turn, ...]:
    """The script in which the parent starts the children first, and each of them has its turns.

    A start is a success, after which an agent may try again what has failed: so none comes later.
    The last turn repeats without end, and a turn of a child ends it. So it comes again behind them.
    Of two children either may ask first, so their turns come twice.
    """
    if not children.calls:
        return tuple(script)
    made = list[Turn]()
    own = children.turns * len(children.calls)
    for turn in (*children.calls, *script):
        made += [turn, *own] if turn.purpose == "main" else [turn]
    last = next(turn for turn in reversed(script) if turn.purpose == "main")
    return (*made, *(last, *own) * LAST_COPIES, last)


def _call(number: int) -> Turn:
    given = {"prompt": _prompt(number), "background": True, "description": _notes(number)}
    return Turn(use=TASK, input=given, optional=True)


def _steps(turns: Sequence[Turn], number: int) -> Iterator[Turn]:
    """The turns of one child. Its requests lack what its parent says of it, and the notes of its
    own later steps."""
    for step, turn in enumerate(turns):
        note = _note(number, step)
        works = turn.use is not None
        # A fault may start more children than were drawn, and all of them say this.
        said = (
            msgspec.structs.replace(turn, say=note, input={"name": note})
            if works
            else msgspec.structs.replace(turn, times="forever")
        )
        only = RequestText(has=_prompt(number), lacks=note)
        yield msgspec.structs.replace(said, when=only)


def _prompt(number: int) -> str:
    return marked(f"Look for animals in garden {number}.")


def _note(number: int, step: int) -> str:
    return marked(f"Garden {number}, step {step + 1}.")


def _notes(number: int) -> str:
    """The description in the call of the parent, by which its requests differ from the child's."""
    return " ".join(_note(number, step) for step in range(STEPS_MOST))
