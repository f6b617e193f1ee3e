"""Runs as OTLP/JSON, which Jaeger and the collectors of OpenTelemetry read.

A session is a trace: a span for the run, below it one for each turn (`invoke_agent`), below that
the calls of models (`chat`) and of tools (`execute_tool`). A sub-agent is a trace too, with a link
to the turn that it works for: a reader of calls must not mix two conversations. A finding is the
event `gen_ai.evaluation.result` of the span that begins to prove it. Source: OpenTelemetry semantic
conventions for generative AI, 1.38; opentelemetry-proto, `trace.proto` in JSON encoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from harness.core.history.events import Answered, AnyEvent, Called, Effected, Ended, Killed
from harness.core.history.trace import Turn, children
from harness.core.values.messages import Json
from harness.core.values.verdict import Finding
from harness.redaction.encoder import json_bytes
from harness.report.exports.call_spans import UNANSWERED, CallSpan, call_spans
from harness.report.exports.exported_run import ExportedRun, begin_ns, end_ns
from harness.report.exports.genai_messages import attributes, rows, words
from harness.report.run_timeline import marks_of
from harness.verdicts.event_lines import event_lines

SCHEMA = "https://opentelemetry.io/schemas/1.38.0"

_INTERNAL, _OK, _ERROR = 1, 1, 2
_ROOT, _TURN, _CALL = "run", "turn", "call"
"""The kinds of spans, in the names of which their ids are made."""


def otlp(runs: Sequence[ExportedRun]) -> bytes:
    """The document of the runs, with a line end."""
    return json_bytes({"resourceSpans": [_resource(run) for run in runs]}) + b"\n"


def _resource(run: ExportedRun) -> dict[str, Json]:
    head = run.head
    spans = [span for session in run.sessions for span in _Session(run, session).spans()]
    scope = {"name": "loop-harness", "version": head.version}
    return {
        "resource": {"attributes": attributes({"service.name": head.target or "agent"})},
        "scopeSpans": [{"scope": scope, "spans": spans, "schemaUrl": SCHEMA}],
        "schemaUrl": SCHEMA,
    }


class _Session:
    """The spans of one session."""

    def __init__(self, run: ExportedRun, session: str) -> None:
        self.run, self.session = run, session
        self.is_first = session == run.sessions[0]
        self.calls = call_spans(run, session)
        self.events = [e for e in run.history.events if self._is_here(e)]
        self._kept: dict[str, list[dict[str, Json]]] = {}

    def _is_here(self, event: AnyEvent) -> bool:
        return event.session == self.session or (self.is_first and not event.session)

    def _id(self, *names: object) -> str:
        return self.run.span_id(self.session, *names)

    def spans(self) -> Iterator[dict[str, Json]]:
        """Yield the span of the run, those of the turns, and those of the calls."""
        by_turn: dict[int, list[CallSpan]] = {}
        for call in self.calls:
            by_turn.setdefault(call.turn, []).append(call)
        numbers = {e.turn for e in self.events if isinstance(e, (Called, Answered)) and e.turn}
        turns = sorted(numbers | by_turn.keys())
        self._keep_events(set(turns))
        yield self._root()
        for number in turns:
            yield self._turn(number, by_turn.get(number, []))
        yield from map(self._call, self.calls)

    def _keep_events(self, turns: set[int]) -> None:
        """Give each finding and each event between the calls to the span that shows it."""
        owners = {n: self._id(_CALL, call.key) for call in self.calls for n in call.events}
        marks, said = marks_of(self.run.verdict), event_lines(self.run.history)
        for event in self.events:
            turn = self._id(_TURN, event.turn) if event.turn in turns else self._id(_ROOT)
            owner = self._kept.setdefault(owners.get(event.n, turn), [])
            if event.n not in owners and _is_between(event):
                owner.append(_event("harness.event", event, {"harness.line": said[event.n]}))
            owner += (_finding(finding, event) for finding in marks.get(event.n, ()))
        if self.is_first and self.events:
            unproved = (found for found in self.run.verdict.findings if not found.events)
            root = self._kept.setdefault(self._id(_ROOT), [])
            root += (_finding(finding, self.run.history.events[-1]) for finding in unproved)

    def _root(self) -> dict[str, Json]:
        run, head, verdict = self.run, self.run.head, self.run.verdict
        child = children(run.history.trace).get(self.session)
        failing = next(iter(verdict.failing), None)
        span = self._span(
            self._id(_ROOT), "", f"run {run.name}", run.history.events,
            {
                "gen_ai.conversation.id": self.session,
                "openinference.span.kind": "CHAIN",
                "harness.run": run.name,
                "harness.scenario": head.scenario,
                "harness.world": head.world,
                "harness.seed": head.seed,
                "harness.verdict": verdict.verdict,
                "harness.outcome": verdict.outcome,
                "harness.doubts": list(verdict.doubts),
            },
            str(failing) if verdict.verdict == "fail" and failing else "",
        )  # fmt: skip
        if child is not None:
            parent, number = child.root
            turn = run.span_id(parent, _TURN, number)
            span["links"] = [{"traceId": run.trace_id(parent), "spanId": turn}]
        return span

    def _turn(self, number: int, calls: Sequence[CallSpan]) -> dict[str, Json]:
        own = [e for e in self.events if isinstance(e, (Called, Answered)) and e.turn == number]
        turn = self.run.history.trace.turns.get((self.session, number))
        errors = [s.request.text for s in turn.endings if s.request.kind == "error"] if turn else []
        agent = self.run.head.target
        return self._span(
            self._id(_TURN, number), self._id(_ROOT), f"invoke_agent {agent}".rstrip(), own,
            {
                "gen_ai.operation.name": "invoke_agent",
                "openinference.span.kind": "AGENT",
                "gen_ai.agent.name": agent,
                "gen_ai.conversation.id": self.session,
                "session.id": self.session,
                "harness.turn": number or None,
                **(_words(turn) if turn else {}),
            },
            " ".join(errors), calls,
        )  # fmt: skip

    def _call(self, call: CallSpan) -> dict[str, Json]:
        id_ = self._id(_CALL, call.key)
        said = {
            **call.attributes,
            "gen_ai.conversation.id": self.session,
            "error.type": call.error,
            "harness.unanswered": call.error == UNANSWERED or None,
            "harness.events": list(call.events),
        }
        return {
            "traceId": self.run.trace_id(self.session),
            "spanId": id_,
            "parentSpanId": self._id(_TURN, call.turn),
            "name": call.name,
            "kind": call.kind,
            "startTimeUnixNano": str(call.begin_ns),
            "endTimeUnixNano": str(call.end_ns),
            "attributes": attributes(said),
            "events": self._kept.get(id_, []),
            "status": {"code": _ERROR, "message": call.why} if call.error else {"code": _OK},
        }

    def _span(
        self, id_: str, parent: str, name: str, events: Iterable[AnyEvent],
        said: dict[str, Json], error: str, calls: Sequence[CallSpan] | None = None,
    ) -> dict[str, Json]:  # fmt: skip
        """A span around events and calls; without `calls` it is around all of the session."""
        around, inside = list(events), self.calls if calls is None else calls
        # The wait for the user's message comes before the turn that it begins.
        begins = [end_ns(e) if isinstance(e, Answered) else begin_ns(e) for e in around]
        begins += (call.begin_ns for call in inside)
        ends = [*map(end_ns, around), *(call.end_ns for call in inside)]
        return {
            "traceId": self.run.trace_id(self.session),
            "spanId": id_,
            **({"parentSpanId": parent} if parent else {}),
            "name": name,
            "kind": _INTERNAL,
            "startTimeUnixNano": str(min(begins, default=0)),
            "endTimeUnixNano": str(max(ends, default=0)),
            "attributes": attributes(said),
            "events": self._kept.get(id_, []),
            "status": {"code": _ERROR, "message": error} if error else {"code": _OK},
        }


def _words(turn: Turn) -> dict[str, Json]:
    """What the user said in a turn, and what he was told at its end."""
    came = [*([turn.delivery] if turn.delivery else []), *turn.joined]
    told = (words("assistant", sending.request.text) for sending in turn.endings)
    return {
        "gen_ai.input.messages": rows(words("user", each.inbound.text) for each in came),
        "gen_ai.output.messages": rows({**said, "finish_reason": "stop"} for said in told),
    }


def _is_between(event: AnyEvent) -> bool:
    """Whether an event beside the calls of models and tools tells something of the run."""
    if isinstance(event, Called):
        return event.seam in ("outbox", "approval")
    return isinstance(event, (Effected, Killed, Ended)) or (
        isinstance(event, Answered) and event.seam == "approval"
    )


def _finding(finding: Finding, event: AnyEvent) -> dict[str, Json]:
    return _event(
        "gen_ai.evaluation.result", event,
        {
            "gen_ai.evaluation.name": finding.code,
            "gen_ai.evaluation.score.label": finding.class_ or "fail",
            "gen_ai.evaluation.explanation": finding.message,
            "harness.events": list(finding.events),
        },
    )  # fmt: skip


def _event(name: str, event: AnyEvent, said: dict[str, Json]) -> dict[str, Json]:
    return {"name": name, "timeUnixNano": str(begin_ns(event)), "attributes": attributes(said)}
