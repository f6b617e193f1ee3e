"""Pages for the tests: what stands in one, and a history that says hostile things."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from pathlib import Path

import msgspec

from harness import load_scenarios, run
from harness.core.history.history import History
from harness.core.scenario.scenario import Scenario
from harness.core.values.calls import ModelRequest, OutboxRequest, ToolRequest
from harness.core.values.messages import Json, Text, ToolUse, assistant, user
from harness.core.values.verdict import Finding, Verdict
from harness.report.html.html_page import PagePart, page, page_part
from harness.targets.spec import resolve
from harness.verdicts.command_events import Matrix, MatrixCell
from harness.verdicts.result import Invocation, Result, summarize
from tests.report.fabricated import RUNS, history

HOSTILE = (
    "</script><script>window.hit=1</script><img src=x onerror='window.hit=2'>"
    "<style>*{display:none}</style>\u2028\u202etxt.exe\u2066\x00\x1b[2J\x07 &lt;b&gt; ${hit} "
    "{{ hit }} <!-- \ufeff javascript:hit ]]>"
)
"""Text that leaves its place wherever it is taken for something else than text."""

SCENARIOS = Path(__file__).parents[3] / "scenarios"

GREETING = Path(__file__).with_name("greeting.yaml")

TURN = {"session": "main", "turn": 1}


def many() -> bytes:
    """A page of runs of each verdict."""
    return b"".join(page("my.agent:agent", (page_part(run, history()) for run in RUNS)))


def one() -> bytes:
    """A page of one run: the naive agent repeats a failing call, and a fault strikes."""
    return _page("greeting", [_naive(scenario) for scenario in load_scenarios(GREETING)])


def played() -> bytes:
    """A page of runs of the naive agent, of each verdict, in two folders."""
    files = ("loops/identical-failures", "loops/do-nothing", "compaction/compaction-after-hi")
    found = (run for name in files for run in load_scenarios(SCENARIOS / f"{name}.yaml")[:7])
    made = [_naive(scenario, f"scenarios/{file_of(scenario)}") for scenario in found]
    left = [page_part(run) for run in RUNS if run.word in ("unknown", "not_applicable")]
    return _page("examples.naive_agent:agent", [*made, *left])


def file_of(scenario: Scenario) -> str:
    """Where the file of a scenario stands, below `scenarios`."""
    return str(next(SCENARIOS.rglob(f"{scenario.name}.yaml")).relative_to(SCENARIOS))


def swept() -> bytes:
    """A page of a sweep: a fault that held, one with a finding, and one that is open."""
    name = RUNS[0].name
    cells = (
        MatrixCell(row=0, column=0, word="held", cases=2, text="2 cases held"),
        MatrixCell(row=0, column=1, word="found", cases=1, text="1 case found: lost",
                   class_="defect", result=name),
        MatrixCell(row=1, column=1, word="open", cases=3, text="3 cases open: limit"),
    )  # fmt: skip
    rows, columns = ("http.overloaded", HOSTILE), ("main/model#1", "main/tool#1")
    table = Matrix(title=HOSTILE, corner="fault", rows=rows, columns=columns, cells=cells)
    return b"".join(page("swept", (page_part(run, history()) for run in RUNS), [table]))


def long() -> bytes:
    """A page of 1,000 turns."""
    return _page(
        "long", [page_part(msgspec.structs.replace(RUNS[0], name="long"), long_talk(1000))]
    )


def _page(title: str, parts: list[PagePart]) -> bytes:
    return b"".join(page(title, parts))


def _naive(scenario: Scenario, file: str = "greeting.yaml") -> PagePart:
    made = run(scenario, resolve("examples.naive_agent:agent"))
    asked = Invocation(path=file, target="examples.naive_agent:agent")
    return page_part(summarize(made, asked), made.history)


def unpacked(data: bytes, id: str) -> Json:
    """What stands under an id of a page."""
    found = re.search(rb'<script type="text/plain" id="%s">([^<]*)' % id.encode(), data)
    assert found is not None, f"no {id}"
    return json.loads(zlib.decompress(b64decode(found[1])))


def rewritten() -> bytes:
    """A page of a run whose second request drops a message and changes another."""
    made = History()
    made.started(run="rewritten", scenario="rewritten", wire="anthropic", world="simulate")
    first = [made.note(user(text)) for text in ("One fact.", "A long note: it rains in Bergen.")]
    second = [first[0], made.note(user("A long note: it snows in Bergen."))]
    gone = made.note(assistant("This goes."))
    for n, messages in enumerate(([*first, gone], second), start=1):
        request = ModelRequest("claude", tuple(messages), max_tokens=n)
        made.called(key=f"main/model#{n}", seam="model", request=request, **TURN)
        made.answered(key=f"main/model#{n}", seam="model", status=200, **TURN)
    made.ended(how="returned")
    return _page("rewritten", [page_part(msgspec.structs.replace(RUNS[0], name="a"), made)])


def nulls() -> bytes:
    """A page of a run whose three tools say null, an empty text, and zero."""
    made = History()
    made.started(run="nulls", scenario="nulls", world="simulate")
    values: list[Json] = [{"content": None}, {}, {"content": 0}]
    for n, value in enumerate(values, start=1):
        request = ToolRequest(f"call-{n}", "read", None)
        made.called(key=f"main/tool#{n}", seam="tool", request=request, **TURN)
        made.answered(key=f"main/tool#{n}", seam="tool", value=value, **TURN)
    made.ended(how="returned")
    return _page("nulls", [page_part(msgspec.structs.replace(RUNS[0], name="nulls"), made)])


def hostile_history() -> History:
    """A run in which everybody says the hostile text: user, model, tool, agent."""
    made = History()
    made.started(run=HOSTILE, scenario=HOSTILE, target=HOSTILE, world="simulate")
    asked = made.note(user(HOSTILE))
    tools = made.value([{"name": HOSTILE, "description": HOSTILE}])
    request = ModelRequest(HOSTILE, (asked,), tools=tools, system=made.value(HOSTILE))
    made.called(key="main/model#1", seam="model", request=request, **TURN)
    said = made.note(assistant(Text(HOSTILE), ToolUse(HOSTILE, HOSTILE, {HOSTILE: HOSTILE})))
    made.answered(
        key="main/model#1", seam="model", blocks=said, status=200, faults=(HOSTILE,), **TURN
    )
    made.called(
        key="main/tool#1", seam="tool", request=ToolRequest(HOSTILE, HOSTILE, HOSTILE), **TURN
    )
    value = {"content": HOSTILE, "is_error": True}
    made.answered(key="main/tool#1", seam="tool", value=value, outcome="error", **TURN)
    made.called(key="main/outbox#1", seam="outbox", request=OutboxRequest("final", HOSTILE), **TURN)
    made.ended(how="crashed", text=HOSTILE, traceback=HOSTILE)
    return made


def hostile() -> bytes:
    """A page of two runs of that history, with hostile findings, reasons and names."""
    finding = Finding(f"{HOSTILE}.rule", HOSTILE, (4, 6), class_="defect")
    verdict = Verdict("fail", findings=(finding,), doubts=(HOSTILE,), passed=(HOSTILE,))
    run = Result(
        name=HOSTILE, scenario=HOSTILE, title=HOSTILE, target=HOSTILE, world="simulate", seed=1,
        verdict=verdict, file=f"{HOSTILE}/x.yaml", history=HOSTILE, repeat=HOSTILE, seen=(HOSTILE,),
        traceback=HOSTILE,
    )  # fmt: skip
    return b"".join(page(HOSTILE, [page_part(run, hostile_history()), page_part(run)]))


def long_talk(turns: int) -> History:
    """A conversation of a given number of turns, each with a call of a tool."""
    made = History()
    made.started(run="long", scenario="long", target="t", wire="anthropic", world="simulate")
    tools = made.value([{"name": "memory", "description": "Remember a fact " * 20}])
    system = made.value("You are a helpful assistant. " * 40)
    count = at = 0
    for turn in range(1, turns + 1):
        place = {"session": "main", "turn": turn}
        text = f"Message {turn}: " + " ".join(str((turn * k) % 9973) for k in range(40))
        inbox = {"id": f"m{turn}", "text": text}
        made.answered(key=f"main/inbox#{turn}", seam="inbox", value=inbox, at_ms=at, **place)
        new = [made.note(user(text))]
        for _ in range(2):
            count, at = count + 1, at + 700
            key, before = f"main/model#{count}", f"main/model#{count - 1}" if count > 1 else ""
            request = ModelRequest("claude", tuple(new), after=before, keep=count - 1, tools=tools,
                                   system=system, tools_offered=True)  # fmt: skip
            made.called(key=key, seam="model", request=request, at_ms=at, **place)
            said = made.note(assistant(Text(f"Answer {count} to {text}")))
            made.answered(key=key, seam="model", blocks=said, status=200, at_ms=at, **place)
            new = [said]
        final = OutboxRequest("final", f"Answer {turn}")
        made.called(key=f"main/outbox#{turn}", seam="outbox", request=final, at_ms=at, **place)
        made.answered(key=f"main/outbox#{turn}", seam="outbox", at_ms=at, **place)
    made.ended(how="returned", at_ms=at)
    return made
