"""All reductions, in the order in which they are tried: what takes away most for a run comes first.

Long sessions come down to a few turns before anything is tried that costs a run for each of them;
what is only nicer to read comes last.
"""

from __future__ import annotations

from harness.shrink import answers, faults, plain, repeats, rounds, short_form, stored
from harness.shrink.steps import Reduction

REDUCTIONS: tuple[Reduction, ...] = (
    rounds.windows,
    repeats.folded_turns,
    rounds.rounds,
    rounds.turns_with_outcomes,
    rounds.turns,
    repeats.fewer_times,
    answers.plain_answers,
    repeats.folded_outcomes,
    plain.entries_of("faults"),
    plain.entries_of("inbox"),
    stored.messages,
    stored.calls,
    plain.entries_of("tools"),
    faults.weaker,
    plain.entries,
    plain.numbers,
    plain.texts,
    short_form.short_forms,
)
