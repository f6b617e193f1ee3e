"""The guards in a loop that is not ours: `python examples/guards_in_your_loop.py`, offline.

`turn` is a tool loop as many have it: twenty lines, plain dicts, any model behind `ask`. What the
guards need of it is said in four places: they are created for each turn, see each new reply,
asked before a call, and told the raw result after it. Everything else here is a model that plays
four ways to get nowhere, and one that gets somewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from harness import ToolResult, ToolSpec, ToolUse
from harness.agent import EndTurn, Guide, Refuse, Watch, standard_guards

Row = dict[str, Any]
Tools = dict[str, Callable[[Any], str]]


def turn(ask: Callable[[list[Row]], Row], tools: Tools, specs: Sequence[ToolSpec]) -> list[Row]:
    """Ask, run what is asked for, and again, until there is an answer; the rows of the turn."""
    watch = Watch(standard_guards(specs))  # one for each turn: its counters begin at zero
    rows: list[Row] = []
    while True:
        rows.append(reply := ask(rows))
        if not reply["calls"]:
            return rows
        watch.begin_step()  # the calls of one reply are one batch
        end = ""
        for id, name, arguments in reply["calls"]:
            call = ToolUse(id, name, arguments)
            decision = EndTurn(end) if end else watch.before(call)
            result = ToolResult(id, getattr(decision, "text", ""), is_error=True)
            if not isinstance(decision, Refuse | EndTurn):
                result = run(tools, call)
                decision = watch.after(call, result)  # the raw result, before anything is added
            hint = f"\n{decision.text}" if isinstance(decision, Guide) else ""
            rows.append({"id": id, "text": f"{result.content}{hint}", "failed": result.is_error})
            end = decision.text if isinstance(decision, EndTurn) else end
        if end:
            return [*rows, {"calls": (), "text": f"I could not finish this: {end}"}]


def run(tools: Tools, call: ToolUse) -> ToolResult:
    """One call, with any outcome of the tool."""
    try:
        return ToolResult(call.id, tools[call.name](call.input))
    except Exception as error:
        return ToolResult(call.id, f"{type(error).__name__}: {error}", is_error=True)


def model(*turns: tuple[str, Any]) -> Callable[[list[Row]], Row]:
    """A model that makes these calls in order, and repeats the last until a tool says `done`."""
    waiting = list(turns)

    def ask(rows: list[Row]) -> Row:
        if rows and rows[-1]["text"].startswith("done"):
            return {"calls": (), "text": "It is done."}
        name, arguments = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return {"calls": [(f"call_{len(rows)}", name, arguments)], "text": ""}

    return ask


def shop() -> tuple[Tools, list[str]]:
    """Three tools, and the list of what was run."""
    ran: list[str] = []
    states: Iterator[str] = iter(["queued", "10 %", "50 %", "90 %", "done"])

    def noted(name: str, do: Callable[[Any], str]) -> Callable[[Any], str]:
        def call(given: Any) -> str:
            ran.append(name)
            return do(given)

        return call

    tools: Tools = {"write": lambda given: given["path"], "look": lambda given: "port = 8080"}
    tools |= {"job": lambda given: next(states)}
    return {name: noted(name, do) for name, do in tools.items()}, ran


SPECS = (
    ToolSpec("write", input_schema={"type": "object", "required": ["path"]}),
    ToolSpec("look", input_schema={"type": "object"}),
    ToolSpec("job", input_schema={"type": "object"}),
)
STORIES: dict[str, tuple[tuple[str, Any], ...]] = {
    "the arguments never arrive": (("write", {}),),
    "the same call fails": (("write", {"file": "a"}),),
    "two calls go in a circle": (("look", {"at": 1}), ("look", {"at": 2})) * 4,
    "a tool that is not there": (("remember", {"what": "all"}),),
    "waiting for a job": (("job", {}),),
}


def main() -> None:
    """Tell how each story ends."""
    for title, calls in STORIES.items():
        tools, ran = shop()
        rows = turn(model(*calls), tools, SPECS)
        print(f"{title}: {len(ran)} calls run\n  {rows[-1]['text']}")


if __name__ == "__main__":
    main()
