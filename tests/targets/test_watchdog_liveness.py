"""What the limits count, beat by beat, and which of them ends a run."""

from __future__ import annotations

import pytest

from harness.targets.watchdog import Beat, Liveness, Stop

REAL_S = 30.0


def _ended(counts: Liveness, *beats: Beat, times: int = 4000) -> tuple[Stop | None, float]:
    """The limit that is passed when the beats come again and again, and after how long."""
    wall_s = 0.0
    for n in range(times):
        for beat in beats:
            wall_s += beat.wall_s
            stop = counts.beat(beat._replace(calls=beat.calls * (n + 1)))
            if stop is not None:
                return stop, wall_s
    return None, wall_s


def _counts(*, start_s: float = 0.0) -> Liveness:
    return Liveness(REAL_S, 1000.0, start_s=start_s)


IDLE = Beat(1.0, 0.0)
BUSY = Beat(1.0, 1.0)


def test_silence_is_a_hang() -> None:
    assert _ended(_counts(), IDLE) == ("hung", 30.0)


def test_processor_time_is_computing() -> None:
    assert _ended(_counts(), BUSY) == ("computes", 30.0)


def test_a_target_that_computes_on_a_shared_processor_has_the_same_time() -> None:
    assert _ended(_counts(), Beat(1.0, 0.1)) == ("computes", 300.0)


def test_a_target_in_line_for_a_processor_is_neither_silent_nor_restless() -> None:
    assert _ended(_counts(), Beat(1.0, 0.001, in_line_s=0.99)) == (None, 4000.0)
    assert _ended(_counts(), Beat(1.0, 0.001, in_line_s=0.01)) == ("hung", 30.0)


def test_calls_without_an_end_are_a_loop() -> None:
    assert _ended(_counts(), Beat(1.0, 1.0, calls=1)) == ("loops", 30.0)
    slowly = (Beat(1.0, 0.0, calls=1), *[IDLE._replace(calls=1)] * 9)
    assert _ended(_counts(), *slowly)[0] == "loops"


def test_a_late_heartbeat_says_nothing_of_the_target() -> None:
    late = Beat(2.0, 0.0, late_s=1.9)
    counts = _counts()
    assert _ended(counts, late) == ("slow", 30.0)
    assert "15 times, by up to 1.9 s" in counts.words("slow")


def test_a_machine_that_slept_is_one_late_beat() -> None:
    assert _counts().beat(Beat(3600.0, 0.0, late_s=3599.9)) is None


@pytest.mark.parametrize("sign", [Beat(1.0, 1.0), Beat(1.0, 0.0, served=True)])
def test_a_sign_of_life_ends_silence(sign: Beat) -> None:
    counts = _counts()
    for beat in [IDLE] * 29 + [sign] + [IDLE] * 29:
        assert counts.beat(beat) is None
    assert counts.beat(IDLE) == "hung"


def test_an_answer_under_way_is_no_silence_of_the_target() -> None:
    assert _ended(_counts(), Beat(1.0, 0.0, served=True))[0] is None


def test_after_a_failed_answer_silence_may_be_a_back_off() -> None:
    assert _ended(_counts(), Beat(1.0, 0.0, failed=True)) == ("hung", 90.0)


def test_a_back_off_that_grows_to_a_minute_is_none_of_our_business() -> None:
    counts = _counts()
    for calls, pause_s in enumerate((1, 2, 4, 8, 16, 32, 60), 1):
        assert counts.beat(Beat(0.1, 0.0, calls=calls, failed=True)) is None
        for _ in range(pause_s):
            assert counts.beat(Beat(1.0, 0.0, calls=calls, failed=True)) is None


def test_pauses_without_an_end_are_named() -> None:
    counts = _counts()
    pauses = [Beat(1.0, 0.0, failed=True)] * 20
    stop, calls = None, 0
    while stop is None:
        calls += 1
        for beat in pauses:
            stop = stop or counts.beat(beat._replace(calls=calls))
    assert (stop, calls) == ("backs_off", 16)


def test_memory_is_bounded() -> None:
    assert _counts().beat(IDLE._replace(memory_mb=999.0)) is None
    assert _counts().beat(IDLE._replace(memory_mb=1001.0)) == "memory"


def test_a_program_has_time_to_start_until_its_first_call() -> None:
    assert _ended(_counts(start_s=60.0), IDLE) == ("hung", 90.0)
    counts = _counts(start_s=60.0)
    for beat in [BUSY] * 80 + [Beat(1.0, 1.0, calls=1)] + [IDLE._replace(calls=1)] * 29:
        assert counts.beat(beat) is None
    assert counts.beat(IDLE._replace(calls=1)) == "hung"


def test_another_attempt_has_an_allowance_of_its_own() -> None:
    counts = Liveness(REAL_S, 1000.0, start_s=60.0, calls=7)
    assert [counts.beat(IDLE._replace(calls=7)) for _ in range(89)] == [None] * 89
    assert counts.beat(IDLE._replace(calls=7)) == "hung"
