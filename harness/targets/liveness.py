"""Measures a run against its limits, and names the limit that ends it. Pure: it gets beats.

Processor time counts up to `limits.real_s`. Silence counts while the target neither calls nor
computes, and our own heartbeat is on time. A target that stands in line for a processor, behind
other programs, is not silent. A late heartbeat means a slow machine, so that time does not count.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

Stop = Literal["hung", "computes", "loops", "backs_off", "memory", "slow"]
STOPS: tuple[Stop, ...] = get_args(Stop)

LATE_S = 0.5
"""A heartbeat that is later than this comes from a machine that is too slow to judge silence."""

COMPUTING = 0.05
"""The share of processor time from which a target computes."""

RETRY_PAUSE = 3
"""The factor of allowed silence after a failed answer, because it may be a back-off."""

RUN = 10
"""A run without rest may take this many times `limits.real_s` of real time."""

LOOP_CALLS = 10
"""The number of calls, in the last half of its time, from which a target loops."""

START_S = 60.0
"""The extra seconds of a program until its first call, because it loads its code."""


class Beat(NamedTuple):
    """The activity since the last beat.

    `late_s` is the delay of the heartbeat, without the target's processor time. `in_line_s` is the
    time in which threads of the target were ready, but not on a processor. `calls` counts all calls
    so far. `served`: an answer of the harness is being sent. `failed`: the last answer was an
    error.
    """

    wall_s: float
    cpu_s: float
    late_s: float = 0.0
    memory_mb: float = 0.0
    calls: int = 0
    served: bool = False
    failed: bool = False
    in_line_s: float = 0.0

    @property
    def is_busy(self) -> bool:
        """Whether the target computes, or would on a machine without other work."""
        return self.cpu_s + self.in_line_s >= COMPUTING * self.wall_s


class Liveness:
    """The counts of one run, or of one attempt.

    `calls` is the number of calls before the attempt. `start_s` is the allowance before its first
    call.
    """

    def __init__(
        self, real_s: float, memory_mb: float, *, start_s: float = 0.0, calls: int = 0
    ) -> None:
        self._real_s, self._memory_mb, self._start_s = real_s, memory_mb, start_s
        self._first = self._calls = self._calls_before_half = calls
        self._cpu_s = self._silent_s = self._slow_s = self._total_s = self._pauses_s = 0.0
        self._worst_late_s, self._late_beats, self._failed = 0.0, 0, False

    def beat(self, beat: Beat) -> Stop | None:
        """Count a beat; return the name of the limit that it exceeds, if any."""
        called = beat.calls != self._calls
        if called and self._calls == self._first:
            self._cpu_s = self._total_s = 0.0  # the allowance for the start ends here
        self._cpu_s += beat.cpu_s
        if called or beat.served or beat.is_busy:
            self._rest()
        if not called and not beat.served:
            self._quiet(beat)
        self._calls, self._failed = beat.calls, beat.failed
        if max(self._cpu_s / self._allowed_s, self._total_s / RUN / self._real_s) < 0.5:
            self._calls_before_half = beat.calls
        return self._passed(beat)

    def _rest(self) -> None:
        """End the count of silence."""
        if self._failed:
            self._pauses_s += self._silent_s
        self._silent_s = self._slow_s = self._worst_late_s = 0.0
        self._late_beats = 0

    def _quiet(self, beat: Beat) -> None:
        own_s = max(0.0, beat.wall_s - beat.in_line_s)
        self._total_s += own_s if beat.late_s <= LATE_S else 0.0
        if beat.is_busy:
            return
        if beat.late_s <= LATE_S:
            self._silent_s += beat.wall_s
            return
        # An hour of sleep of the machine counts as one late beat.
        self._slow_s += min(beat.wall_s, self._real_s / 5)
        self._late_beats += 1
        self._worst_late_s = max(self._worst_late_s, beat.late_s)

    @property
    def _allowed_s(self) -> float:
        """Return how much processor time the target may have used by now."""
        return self._real_s + (self._start_s if self._calls == self._first else 0.0)

    @property
    def _silence_s(self) -> float:
        """Return how long the target may be silent now."""
        return self._allowed_s * (RETRY_PAUSE if self._failed else 1)

    def _passed(self, beat: Beat) -> Stop | None:
        if beat.memory_mb > self._memory_mb:
            return "memory"
        if self._cpu_s >= self._allowed_s:
            return "loops" if self._loops else "computes"
        if self._silent_s >= self._silence_s:
            return "hung"
        if self._slow_s >= self._silence_s:
            return "slow"
        if self._total_s >= RUN * self._allowed_s:
            return self._restless
        return None

    @property
    def _loops(self) -> bool:
        return self._calls - self._calls_before_half >= LOOP_CALLS

    @property
    def _restless(self) -> Stop:
        if self._pauses_s + (self._silent_s if self._failed else 0.0) >= self._total_s / 2:
            return "backs_off"
        return "loops" if self._calls > self._calls_before_half else "computes"

    def words(self, stop: Stop) -> str:
        """Return a sentence on an exceeded limit, with numbers that are the same in each run."""
        of = f"limits.real_s is {self._real_s:g}"
        match stop:
            case "memory":
                return f"the target took more memory than limits.memory_mb = {self._memory_mb:g}"
            case "computes":
                return f"it used {self._allowed_s:g} s of processor time and called little ({of})"
            case "loops":
                return f"it continued to call and did not end ({of})"
            case "backs_off":
                text = f"its pauses after failed answers fill {RUN * self._real_s / 2:g} s or more"
                return f"{text} of real time ({of}; --real-s allows more)"
            case "hung":
                after = " after a failed answer" if self._failed else ""
                return f"it neither called nor computed for {self._silence_s:g} s{after} ({of})"
            case "slow":
                return (
                    f"this machine: too slow: the target was silent, and our heartbeat was late "
                    f"{self._late_beats} times, by up to {self._worst_late_s:.1f} s "
                    f"(on time is within {LATE_S:g} s; {of}); play fewer runs at once (-j)"
                )
