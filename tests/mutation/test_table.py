"""The table of results: what counts, and how."""

from __future__ import annotations

from tests.mutation.table import KILLED, NO_TEST, NOT_RUN, SURVIVED, TIMED_OUT, score, table


def test_what_no_test_runs_has_survived_and_what_could_not_run_does_not_count() -> None:
    assert score([KILLED, TIMED_OUT, SURVIVED, NO_TEST, NOT_RUN]) == 0.5
    assert score([NOT_RUN]) == 0.0


def test_a_row_for_each_room_and_one_for_all() -> None:
    results = [("core", KILLED), ("core", SURVIVED), ("faults", KILLED), ("faults", NO_TEST)]
    head, _, *rows = table([*results, ("faults", KILLED)])
    assert head == "| room | mutants | killed | timed out | survived | no test | not run | score |"
    assert rows[0] == "| core | 2 | 1 | 0 | 1 | 0 | 0 | 50% |"
    assert rows[3] == "| faults | 3 | 2 | 0 | 0 | 1 | 0 | 67% |"
    assert rows[4] == "| all | 5 | 3 | 0 | 1 | 1 | 0 | 60% |"
