"""Runs made by hand for the exports: two sessions, turns, tools that fail, raise and never answer.

`histories` draws them, with texts that no file holds easily. Real runs are those of the catalogue.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from harness.checks.judge import judge
from harness.core.history.history import History
from harness.core.values.calls import ModelRequest, OutboxRequest, ToolRequest
from harness.core.values.messages import Json, ToolResult, ToolUse, assistant, results, user
from harness.core.values.plans import Raise
from harness.core.values.verdict import Finding, Verdict
from harness.files import load_scenarios
from harness.report.exports.exported_run import ExportedRun, numbered
from harness.runner import run

ROOT = Path(__file__).parents[3]
CATALOGUE = (
    "loops/identical-failures", "loops/circles", "tools/what-the-tools-said",
    "compaction/in-good-time", "store/torn-last-line",
)  # fmt: skip
PASSED = Verdict("pass", "completed", passed=("valid_request",))


class RunMaker:
    """Writes a history call by call, as the runner does."""

    def __init__(self, target: str = "my.agent:agent") -> None:
        self.history = History()
        self.history.started(
            run="made/variant", scenario="made", wire="anthropic", target=target, seed=7,
            world="simulate", seams=["model", "tool", "inbox", "outbox"],
        )  # fmt: skip
        self.at_ms = 0
        self._said: dict[str, list[str]] = {}
        self._counts: dict[tuple[str, str], int] = {}

    def _key(self, session: str, seam: str) -> str:
        number = self._counts[session, seam] = self._counts.get((session, seam), 0) + 1
        return f"{session}/{seam}#{number}"

    def comes(self, session: str, turn: int, text: str) -> None:
        """The user says something, which begins a turn."""
        key = self._key(session, "inbox")
        value = {"id": f"{session}-m{turn}", "session": session, "text": text}
        self.history.answered(key, "inbox", self.at_ms, session, turn, value=value)
        self._said.setdefault(session, []).append(self.history.note(user(text)))

    def asks(self, session: str, turn: int, *uses: ToolUse, say: str = "", **more: Any) -> None:
        """The agent asks the model, which says something and calls tools."""
        key, said = self._key(session, "model"), self._said.setdefault(session, [])
        request = ModelRequest("claude-sonnet-5", tuple(said), **more)
        self.history.called(
            key=key, seam="model", request=request, session=session, turn=turn, at_ms=self.at_ms,
            provider="anthropic", tokens=11,
        )  # fmt: skip
        said.append(self.history.note(assistant(*([say] if say else []), *uses)))
        stop = "tool_use" if uses else "end_turn"
        self.history.answered(
            key, "model", self.at_ms, session, turn, blocks=said[-1], stop=stop, status=200
        )

    def runs(self, session: str, turn: int, use: ToolUse, came: Json, fails: bool = False) -> None:
        """A tool runs; `came` is its content, `Raise` what it raises, None for a kill in it."""
        key = self._key(session, "tool")
        request = ToolRequest(use.id, use.name, use.input)
        where = {"session": session, "turn": turn, "at_ms": self.at_ms}
        self.history.called(key=key, seam="tool", request=request, **where)
        if isinstance(came, Raise):
            self.history.answered(key=key, seam="tool", steps=(came,), outcome="error", **where)
        elif came is not None:
            value = {"content": came, **({"is_error": True} if fails else {})}
            self.history.answered(key=key, seam="tool", value=value, **where)
        self.returns(session, use, came if isinstance(came, str) else "", fails)

    def returns(self, session: str, use: ToolUse, text: str, fails: bool = False) -> None:
        """The result of a call stands in the next request."""
        result = results(ToolResult(use.id, text, fails))
        self._said.setdefault(session, []).append(self.history.note(result))

    def tells(self, session: str, turn: int, text: str) -> None:
        """The agent answers the user, which ends the turn."""
        key = self._key(session, "outbox")
        request = OutboxRequest("final", text, in_reply_to=f"{session}-m{turn}")
        where = {"session": session, "turn": turn, "at_ms": self.at_ms}
        self.history.called(key=key, seam="outbox", request=request, **where)
        self.history.answered(key=key, seam="outbox", **where)

    def ended(self, verdict: Verdict = PASSED) -> ExportedRun:
        """The run, after its end."""
        self.history.ended(how="returned", at_ms=self.at_ms)
        (made,) = numbered([(self.history, verdict)])
        return made


def failing_run() -> ExportedRun:
    """A run of one turn: a call that fails twice, and a finding at the second one."""
    made = RunMaker()
    made.comes("main", 1, "Read it, please.")
    for number in (1, 2):
        use = ToolUse(f"t{number}", "read", {"path": "a.txt"})
        made.asks("main", 1, use)
        made.at_ms += 500
        made.runs("main", 1, use, "no such file", fails=True)
    made.asks("main", 1, say="I cannot read it.")
    made.tells("main", 1, "I cannot read it.")
    second = [e.n for e in made.history.events if getattr(e, "key", "") == "main/tool#2"]
    finding = Finding(
        "no_progress_stop.same_failure", "read fails twice", tuple(second), "weakness"
    )
    return made.ended(Verdict("fail", "completed", (finding, Finding("run.unplayed", "no turn"))))


def played(name: str) -> ExportedRun:
    """The first run of a scenario of the catalogue with the reference agent, judged."""
    scenario = next(iter(load_scenarios(ROOT / f"scenarios/{name}.yaml")))
    done = run(scenario, "reference")
    (made,) = numbered([(done.history, judge(done.history))])
    return made


_NAMES = st.sampled_from(["read", "pay", "суп", "a b"])
_TEXTS = st.text(max_size=30)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)
_CAME = (
    _TEXTS
    | st.builds(Raise, st.sampled_from(["timeout", "connect"]))
    | st.none()
    | st.lists(
        st.builds(lambda text: {"type": "text", "text": text}, _TEXTS), min_size=1, max_size=2
    )
    | st.dictionaries(_TEXTS, _JSON, min_size=1, max_size=2)
)


@st.composite
def histories(draw: st.DrawFn) -> ExportedRun:
    """A run of up to two sessions that take turns, with calls of tools of every outcome."""
    made, number = RunMaker(), 0
    for turn in range(1, draw(st.integers(1, 3)) + 1):
        for session in draw(st.sampled_from([("main",), ("main", "other"), ("other", "main")])):
            made.comes(session, turn, draw(_TEXTS))
            for _ in range(draw(st.integers(0, 3))):
                number += 1
                use = ToolUse(f"t{number}", draw(_NAMES), draw(_JSON))
                made.asks(session, turn, use, say=draw(_TEXTS))
                made.at_ms += draw(st.integers(0, 3))
                made.runs(session, turn, use, draw(_CAME), draw(st.booleans()))
            made.tells(session, turn, draw(_TEXTS))
    return made.ended()
