"""The examination: which probes are played, in which order, and the profile that comes of them.

The first probe tells the wires and the tools that the agent offers; the next ones, what ends a
turn. The other probes need both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from harness import providers
from harness.core.scenario.scenario import Scenario
from harness.core.values.profile import CAPABILITIES, Capabilities, Profile
from harness.core.values.table_file import table
from harness.doctor import behaviour, connections
from harness.doctor.probe import (
    GREETING,
    PROFILES,
    SCENARIO,
    SEPARATE_RUNS,
    TARGETS,
    Ending,
    Observation,
    Probe,
    State,
    call_of,
    connection,
    example,
    offering,
    scenario_of,
)

Play = Callable[[Sequence[Scenario]], Sequence[Probe]]
"""Plays scenarios, in their order."""

_ENDS = re.compile(r"(?i)final|answer|submit|finish|done|complete|result|respond|reply")
_STARTS_AGENTS = re.compile(r"(?i)\A(?:task|agent|sub_?agent|spawn\w*|delegate\w*)\Z")
"""Tools of the agent's own that a probe may call: their names promise no effect on the outside."""

OWN_TOOLS_MAX = 4
"""How many of them are called at most."""


class Examination(msgspec.Struct, frozen=True):
    """What the probes showed: each probe, the observations, and the profile.

    `wire` is the one on which all but the greetings were played, "" if the agent speaks none.
    """

    wire: str
    probes: tuple[Probe, ...]
    observations: tuple[Observation, ...]
    profile: Profile


def examine(profile: Profile, play: Play) -> Examination:
    """Play the probes and read them. `profile` says what is known before: target, store, limits."""
    bare = msgspec.structs.replace(profile, wires=(), stream="either", capabilities=Capabilities())
    wires = profile.wires or providers.names()
    greetings = play([scenario_of(GREETING, bare, wire=wire) for wire in wires])
    spoken = {p.scenario.wire: p for p in greetings if connections.speaks(p)}
    if not spoken:
        seen = tuple(_wires(greetings))
        return Examination("", tuple(greetings), seen, profile)
    found = _Patient(bare, spoken, play)
    found.play_rest()
    seen = (*_wires(greetings), *found.connections(), *behaviour.behaviour(found.by_name))
    return Examination(found.wire, (*greetings, *found.played), seen, found.profile(profile))


def _wires(greetings: Sequence[Probe]) -> Iterator[Observation]:
    for probe in greetings:
        wire, see = probe.scenario.wire, f"{TARGETS}#the-brief-member-by-member"
        if not connections.speaks(probe):
            state: State = "not reached" if _unplayed(probe) else "not seen"
            yield connection(wire, state, "does not speak", see, _why(probe))
            continue
        bad = [code for e in probe.requests for code in e.called.refused]
        more = f"; its request is refused: {', '.join(dict.fromkeys(bad))}" if bad else ""
        yield connection(wire, "seen", f"speaks{more}")


def _why(probe: Probe) -> str:
    if probe.broken:
        return probe.broken.message
    if probe.verdict.doubts:
        return probe.verdict.doubts[0]
    if _unplayed(probe):
        return probe.verdict.not_applicable[0].reason
    return "no request reached the model"


def _unplayed(probe: Probe) -> bool:
    return probe.verdict.verdict in ("not_applicable", "unknown") and not probe.trace.starts


class _Patient:
    """An agent under examination: its probes by name, and what they have shown so far."""

    def __init__(self, known: Profile, greetings: dict[str, Probe], play: Play) -> None:
        self.wire, greeting = next(iter(greetings.items()))
        self.wires = tuple(greetings)
        self._greetings, self.streamed = tuple(greetings.values()), list[Probe]()
        self.by_name: dict[str, Probe] = {GREETING: greeting}
        self.played: list[Probe] = []
        self._play, self._ending = play, None
        tools = greeting.scenario.tools
        self.naming = connections.tool_naming(greeting.trace.offered, tools)
        self._known = msgspec.structs.replace(
            known,
            tool_prefix=known.tool_prefix or self.naming.prefix,
            tool_names=known.tool_names or self.naming.names,
        )
        self.ends: tuple[str, ...] = known.turn_ending_tools
        self.pattern = ""
        self.inbound: behaviour.SeenPolicy = None

    _ending: Ending | None

    def play_rest(self) -> None:
        """Play all probes but the greetings."""
        self._play_own_tools()
        self._play_mid_turn()
        self._play_streamed()
        self._add(
            [
                offering(self._scenario("tools"), self.naming.missing),
                *map(self._scenario, ("conversation", "session", "redelivered")),
                *map(self._scenario, ("cancel", "overload", "broken-answer", "delivery")),
                *map(self._scenario, ("too-long", "restart")),
            ]
        )
        tools = self.by_name["tools"]
        ran = {run.request.name for run in tools.trace.executions}
        more = connections.turn_ending_tools(tools)
        self.ends = (*self.ends, *(tool for tool in more if tool in ran))
        self._play_with_pattern()

    def _play_own_tools(self) -> None:
        greeting = self.by_name[GREETING]
        offered = greeting.trace.offered
        named = [n for n in self.naming.own if _ENDS.search(n) or _STARTS_AGENTS.match(n)]
        calls = [
            call_of(name, offered[name], self._known, self.wire) for name in named[:OWN_TOOLS_MAX]
        ]
        found = self._add(calls)
        enders = (tool for probe in found for tool in connections.turn_ending_tools(probe))
        self.ends = tuple(dict.fromkeys((*self.ends, *(t for t in enders if t in named))))
        if not connections.ends_by_words(greeting) and self.ends:
            tool = self.ends[0]
            self._ending = Ending(tool, example(offered.get(tool) or {}))
        self._known = msgspec.structs.replace(self._known, turn_ending_tools=self.ends)

    def _play_mid_turn(self) -> None:
        """Play the messages that come in mid-turn, and again by the policy that they show.

        All later probes are played by it: an agent that reads ahead would seem to end a turn by
        asking for the next message.
        """
        before = self._known
        self._known = msgspec.structs.replace(before, inbound=before.inbound or "queue")
        self._add([offering(self._scenario("mid-turn"), self.naming.missing)])
        self.inbound = behaviour.inbound_policy(self.by_name["mid-turn"])
        wanted = before.inbound or self.inbound or None
        if self.inbound and wanted != self._known.inbound:
            self._known = msgspec.structs.replace(before, inbound=wanted)
            self._add([offering(self._scenario("mid-turn"), self.naming.missing)])
        self._known = msgspec.structs.replace(before, inbound=wanted)

    def _play_streamed(self) -> None:
        """Play the greeting on each wire again, with the option `stream`."""
        asked = [
            scenario_of(GREETING, self._known, wire=wire, stream=True, ending=self._ending)
            for wire in self.wires
        ]
        self.streamed = list(self._play(asked))
        self.played += self.streamed

    def _play_with_pattern(self) -> None:
        """Play `too-long` again with a pattern for summaries, if one is to be proposed."""
        before = self.by_name["too-long"]
        if connections.compacts(before):
            return
        others = [probe for probe in self.by_name.values() if probe is not before]
        pattern = connections.summary_pattern(before, others)
        if pattern:
            purposes = {**self._known.purposes, pattern: "compact"}
            known = msgspec.structs.replace(self._known, purposes=purposes)
            (again,) = self._add([scenario_of("too-long", known, wire=self.wire)])
            self.pattern = pattern if connections.compacts(again) else ""

    def _scenario(self, name: str, stream: bool = False) -> Scenario:
        return scenario_of(name, self._known, wire=self.wire, stream=stream, ending=self._ending)

    def _add(self, scenarios: Sequence[Scenario]) -> Sequence[Probe]:
        found = self._play(scenarios) if scenarios else []
        self.played += found
        self.by_name.update({probe.name: probe for probe in found})
        return found

    @property
    def stream(self) -> str | None:
        """How the agent streams; None if that was not seen."""
        return connections.stream_of((*self._greetings, *self.streamed))

    @property
    def results(self) -> str | None:
        """How it sends results; None if no request holds one."""
        return connections.results_of(self.by_name["tools"])

    @property
    def _offers_tools(self) -> bool:
        return len(self.naming.missing) < len(self.by_name[GREETING].scenario.tools)

    def touched(self, capability: str) -> bool:
        """Whether any probe used a capability."""
        return any(capability in probe.touched for probe in self.by_name.values())

    def connections(self) -> Iterator[Observation]:
        """Yield what is seen of each connection, in the order of the report."""
        yield from self._of_requests()
        yield self._separate_runs()
        yield from self._of_tools()
        for name in CAPABILITIES:
            if name == "compaction":
                yield self._compaction()
            elif name not in ("streaming", "tools"):
                yield self._capability(name)
        yield behaviour.observation(self.inbound)

    def _streaming(self) -> Observation:
        see = f"{TARGETS}#targets-the-agent-under-test"
        if self.stream is None:
            return connection("streaming", "not reached", "a probe brought no request", see)
        if self.stream == "never":
            what = "asks for no stream, not even with the option `stream`"
            return connection("streaming", "not seen", what, see)
        words = {
            wire: _STREAMING[bool(connections.streams(plain)), bool(connections.streams(asked))]
            for wire, plain, asked in zip(self.wires, self._greetings, self.streamed, strict=True)
        }
        if len(set(words.values())) == 1:
            return connection("streaming", "seen", words[self.wire])
        each = "; ".join(f"{wire}: {how}" for wire, how in words.items())
        return connection("streaming", "seen", each)

    def _of_requests(self) -> Iterator[Observation]:
        yield self._streaming()
        by_words = connections.ends_by_words(self.by_name[GREETING])
        if by_words is None:
            yield connection("end of a turn", "not reached", "no answer came whole")
        ends = ["an answer in words"] if by_words else []
        ends += [f"the tool {name}" for name in self.ends]
        if ends:
            yield connection("end of a turn", "seen", f"by {' and by '.join(ends)}")
        elif by_words is not None:
            what = "an answer in words does not end the turn, and no other end was seen"
            yield connection("end of a turn", "not seen", what, f"{PROFILES}#keys")

    def _separate_runs(self) -> Observation:
        mixes = connections.mixes_runs(self.by_name.values())
        if mixes is None:
            return connection(SEPARATE_RUNS, "not reached", "no probe brought a request")
        if mixes:
            what = (
                "a run begins with messages of another one: keep a session file below "
                "`brief.session_dir` (of a program: `HARNESS_SESSION_DIR`), "
                "a new folder for each run"
            )
            return connection(SEPARATE_RUNS, "not seen", what, f"{TARGETS}#a-session-file")
        return connection(SEPARATE_RUNS, "seen", "each run begins with its own messages")

    def _of_tools(self) -> Iterator[Observation]:
        naming, keys = self.naming, f"{PROFILES}#keys"
        see = f"{TARGETS}#tools-of-your-own"
        if not self._offers_tools:
            own = f", but {', '.join(naming.own)}" if naming.own else ""
            yield connection("tools", "not seen", f"offers no tool of the scenario{own}", see)
        else:
            how = f"offered with the prefix {naming.prefix}" if naming.prefix else (
                "offered as " + ", ".join(f"{a} ({t})" for t, a in naming.names.items())
                if naming.names else "offered by their own names"
            )  # fmt: skip
            lacks = f"; not offered: {', '.join(naming.missing)}" if naming.missing else ""
            yield connection("tools", "seen", how + lacks)
        sent = {"blocks": "sent as results of calls", "text": "sent as text of the user"}
        if self.results:
            yield connection("results of tools", "seen", sent[self.results])
        else:
            what = "no request holds the result of a tool"
            yield connection("results of tools", "not reached", what, keys)
        yield self._parallel()

    def _parallel(self) -> Observation:
        together = connections.overlaps(self.by_name["tools"])
        if together is None:
            return connection("parallel tools", "not reached", "two calls of tools did not run")
        if together:
            return connection("parallel tools", "seen", "two calls of one answer run at once")
        return connection(
            "parallel tools", "not seen", "two calls of one answer were not seen to run at once"
        )

    def _compaction(self) -> Observation:
        probe, see = self.by_name["too-long"], f"{SCENARIO}#purposes"
        if self.pattern:
            what = f"asks for a summary; recognised by the pattern {self.pattern!r}"
            return connection("compaction", "seen", what)
        if self.touched("compaction"):
            return connection("compaction", "seen", "asks for a summary, which is recognised")
        if connections.refused(probe) is None:
            return connection(
                "compaction", "not reached", "no request was refused as too long", see
            )
        return connection("compaction", "not seen", "asks for no summary after a refusal", see)

    def _capability(self, name: str) -> Observation:
        said = _CAPABILITY_WORDS[name]
        if self.touched(name):
            return connection(name, "seen", said.seen)
        state: State = "not seen" if self._asked(name) else "not reached"
        return connection(name, state, said.not_seen, said.see)

    def _asked(self, name: str) -> bool:
        """Whether a probe that was played to its point asked for this capability."""
        by_name, well = self.by_name, [p for p in self.by_name.values() if not p.broken]
        match name:
            case "session":
                return bool(by_name["session"].main)
            case "cancel":
                return by_name["cancel"] in well and bool(by_name["cancel"].trace.asks)
            case "outbox" | "store":
                return any(probe.main for probe in well)
        return False

    def profile(self, before: Profile) -> Profile:
        """What was seen, in the form of a profile."""
        stated = {name: self._stated(name) for name in CAPABILITIES}
        declared = msgspec.structs.asdict(before.capabilities)
        merged = {n: v if (v := stated[n]) is not None else declared[n] for n in CAPABILITIES}
        purposes = {**before.purposes, **({self.pattern: "compact"} if self.pattern else {})}
        return msgspec.structs.replace(
            before,
            wires=self.wires,
            stream=self.stream or before.stream,
            capabilities=Capabilities(**merged),
            turn_ending_tools=self.ends,
            results=self.results or before.results,
            tool_prefix=self._known.tool_prefix,
            tool_names=self._known.tool_names,
            purposes=purposes,
            inbound=before.inbound or self.inbound or None,
        )

    def _stated(self, name: str) -> bool | None:
        if name == "streaming":
            return None if self.stream is None else self.stream != "never"
        if name == "tools":
            return self._offers_tools
        state = self._compaction().state if name == "compaction" else self._capability(name).state
        return {"seen": True, "not seen": False, "not reached": None}[state]


_STREAMING = {
    (False, True): "streams when the option `stream` asks for it",
    (True, True): "streams each answer",
    (True, False): "streams when the option `stream` is false",
    (False, False): "does not stream",
}
"""What is said of a run without and a run with the option `stream`."""


class CapabilityWords(msgspec.Struct, frozen=True):
    """What is said of a capability that is seen, or is not; and how to connect it, in the docs."""

    capability: str
    seen: str
    not_seen: str
    see: str


_CAPABILITY_WORDS = table(__package__, "capability_words.tsv", CapabilityWords)
