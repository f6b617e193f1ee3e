"""Made-up runs for the reports: a pass, a failure with much evidence, a doubt, one left out."""

from __future__ import annotations

from collections.abc import Sequence

from harness.comparison import Change
from harness.core.history.events import StoredRow
from harness.core.history.history import History
from harness.core.values.calls import ModelRequest, OutboxRequest, ToolRequest
from harness.core.values.messages import Text, ToolResult, ToolUse, assistant, results, user
from harness.core.values.plans import Sent
from harness.core.values.verdict import Finding, NotApplicable, Verdict
from harness.verdicts.command_events import CommandFinished, CommandStarted, Report
from harness.verdicts.result import Invocation, Result, evidence, run_command
from harness.verdicts.run_diff import Figures, OneSide, RunDiff

TITLE = "The same failing memory call until the budget is gone"
FINDING = Finding(
    "no_progress_stop.repeats",
    'the call memory {"action":"replace"} failed 3 times in a row with the same answer; after '
    "the third one the next action must differ, or the turn must end",
    (6, 8, 11, 13, 15, 17, 19, 20),
)


def history() -> History:
    """A run of one turn: a message, a call that fails, an answer cut short, a reply, the end."""
    made = History()
    made.started(run="identical-failures+stream", scenario="identical-failures", stream=True,
                 wire="anthropic", target="my.agent:agent", seed=7, world="simulate")  # fmt: skip
    hello = made.note(user("Please remember that I moved to Oslo, as I said " + "again " * 20))
    inbound = {"id": "m1", "text": "Please remember\nthat I moved"}
    made.answered(key="main/inbox#1", seam="inbox", value=inbound, session="main", turn=1)
    _model(made, 1, (hello,), assistant("Gladly.", ToolUse("toolu_1", "memory", {"a": "é\x07"})))
    request = ToolRequest("toolu_1", "memory", {"a": 1})
    made.called(key="main/tool#1", seam="tool", request=request, at_ms=1500, **_TURN)
    answer = {"content": "old_text is required", "is_error": True}
    made.answered(
        key="main/tool#1", seam="tool", value=answer, outcome="error", at_ms=1500, **_TURN
    )
    failed = made.note(results(ToolResult("toolu_1", "old_text is required", is_error=True)))
    _model(made, 2, (hello, failed), None, status=529, outcome="error", complete=False,
           faults=("http.status",), steps=(Sent(1, 90),))  # fmt: skip
    reply = made.note(assistant(Text("I could not store that.")))
    made.stored(store="sqlite", added=(StoredRow("1", hello), StoredRow("2", reply)), gone=("9",))
    final = OutboxRequest("final", "I could not store that.", status="failed")
    made.called(key="main/outbox#1", seam="outbox", request=final, at_ms=62000, **_TURN)
    made.answered(key="main/outbox#1", seam="outbox", at_ms=62000, **_TURN)
    made.effect(key="main/tool#1", name="saved", idempotency_key="k1", at_ms=62000)
    made.killed(at="main/model#3", at_ms=62000)
    made.ended(how="crashed", exit_code=1, text="KeyError: 'x'", unplayed=("script turn 2",))
    return made


_TURN = {"session": "main", "turn": 1}


def _model(
    made: History, n: int, messages: tuple[str, ...], said: object, **fields: object
) -> None:
    request = ModelRequest("claude", messages, tools_offered=True)
    made.called(key=f"main/model#{n}", seam="model", request=request, at_ms=n * 700, **_TURN)
    if said is not None:
        fields |= {"blocks": made.note(said), "status": 200, "stop": "tool_use"}  # type: ignore[arg-type]
    made.answered(key=f"main/model#{n}", seam="model", at_ms=n * 700, **fields, **_TURN)


def summary(name: str, verdict: Verdict, title: str = TITLE) -> Result:
    """A run of this name with this verdict."""
    asked = Invocation(path="scenarios/identical-failures.yaml", target="my.agent:agent")
    scenario = name.partition("/")[0].partition("+")[0].partition("@")[0]
    return Result(
        name=name, scenario=scenario, title=title, target="my.agent:agent", world="simulate",
        seed=7, verdict=verdict, history=f".harness/runs/{name}/history.jsonl",
        repeat=run_command(asked, name, 7), evidence=evidence(history(), verdict.findings),
    )  # fmt: skip


RUNS = (
    summary("empty-inputs", Verdict("pass", "completed", passed=("valid_request",)), "Empty {}"),
    summary("identical-failures", Verdict("pass", "failed_truthfully", known=(FINDING,))),
    summary(
        "identical-failures/varying-arguments+stream",
        Verdict(
            "fail",
            "limit",
            findings=(
                FINDING,
                Finding("run.unplayed", "script turn 2 was never played"),
                *4 * (FINDING,),
            ),
            not_applicable=(NotApplicable("reload_equivalence", "the target has no store"),),
            passed=("valid_request", "bounded_turn"),
        ),
    ),
    summary("identical-failures/overloaded", Verdict("unknown", doubts=("check x crashed",))),
    summary(
        "identical-failures/slow",
        Verdict("not_applicable", not_applicable=(NotApplicable("run", "needs virtual time"),)),
    ),
)


def told(report: Report, runs: Sequence[Result], verb: str = "run") -> list[str]:
    """What a report says of a command that came to these runs."""
    planned = tuple((run.name, run.scenario) for run in runs)
    events = (CommandStarted(verb=verb, planned=planned), *runs, CommandFinished())
    return [line for event in events for line in report(event)]


def run_diff(name: str = "identical-failures", code: str = FINDING.code, n: int = 1) -> RunDiff:
    """A run that fails on side B alone, by `n` tools more."""
    what = f"tool memory: amount 1500 → {15 * n}"
    finding = Finding(code, "it is paid twice", (4, 7), "defect")
    late = Finding("run.undelivered", "m2 was never taken", (), "", code)
    a = OneSide(_side(name, Verdict("pass", "completed"), f"a/{name}"),
                Figures(3, 2, 1, 900, 1.5), "main/tool#1", 6, "tool   ← memory {}")  # fmt: skip
    b = OneSide(_side(name, Verdict("fail", "limit", (finding, late)), f"b/{name}"),
                Figures(9, 2 + n, 1, 1900, 1.5, 2), "main/tool#1", 7,
                "tool   ← memory {}")  # fmt: skip
    change = Change(what, "main/tool#1", "main/tool#1", 6, 7)
    return RunDiff(name, a, b, (finding, late), (), change, ("max_tokens: 4096 → 9",))


def _side(name: str, verdict: Verdict, history: str) -> Result:
    return Result(name=name, scenario=name.partition("/")[0], title="", target="my.agent:agent",
                  world="", seed=0, verdict=verdict, history=history)  # fmt: skip
