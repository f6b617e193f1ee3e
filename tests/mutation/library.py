"""What we use of cosmic-ray: its operators make the mutants, its session file keeps the results.

Its own player runs one command for all mutants, so `playing` takes its place. `cr-report` and
`cr-html` read the session. Only the environment of `make mutation` has the library.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkItem, WorkResult

from tests.mutation.sample import CodeMutant
from tests.mutation.table import KILLED, NO_TEST, NOT_RUN, SURVIVED, TIMED_OUT, Result

VERSION = version("cosmic-ray")

_OUTCOMES = {
    KILLED: (WorkerOutcome.NORMAL, TestOutcome.KILLED),
    TIMED_OUT: (WorkerOutcome.ABNORMAL, TestOutcome.KILLED),
    SURVIVED: (WorkerOutcome.NORMAL, TestOutcome.SURVIVED),
    NO_TEST: (WorkerOutcome.NO_TEST, None),
    NOT_RUN: (WorkerOutcome.EXCEPTION, TestOutcome.INCOMPETENT),
}
_WORDS = {outcome: word for word, outcome in _OUTCOMES.items()}


def mutants_of(file: str, text: str) -> Iterator[CodeMutant]:
    """Every mutant of a file."""
    operators = {name: get_operator(name) for name in operator_names()}
    known = {name: operator() for name, operator in operators.items() if not operator.arguments()}
    seen: Counter[str] = Counter()
    for node in ast_nodes(get_ast(text)):
        for name, operator in known.items():
            for start, end in operator.mutation_positions(node):
                yield CodeMutant(file, name, seen[name], start, end)
                seen[name] += 1


def mutated(text: str, mutant: CodeMutant) -> str | None:
    """The file's text with the change; None where Python refuses it, or reads the same."""
    changed = mutate_code(text, get_operator(mutant.operator)(), mutant.occurrence)
    try:
        same = changed is None or ast.dump(ast.parse(changed)) == ast.dump(ast.parse(text))
    except SyntaxError:
        return None
    return None if same else changed


class Session:
    """The session file: the drawn mutants by number, and what became of them."""

    def __init__(self, path: Path) -> None:
        self._db = WorkDB(path, WorkDB.Mode.create)

    def add(self, number: int, mutant: CodeMutant) -> None:
        """Keep a mutant under its number in the draw."""
        place = MutationSpec(
            mutant.file, mutant.operator, mutant.occurrence, mutant.start, mutant.end
        )
        self._db.add_work_item(WorkItem.single(f"{number:05}", place))

    def keep(self, number: int, result: Result, diff: str) -> None:
        """Keep what became of a mutant."""
        worker, tests = _OUTCOMES[result.word]
        self._db.set_result(f"{number:05}", WorkResult(worker, result.said, tests, diff))

    @property
    def mutants(self) -> dict[int, CodeMutant]:
        """All mutants in the order of the draw."""
        found = {}
        for item in sorted(self._db.work_items, key=lambda item: item.job_id):
            spec = item.mutations[0]
            found[int(item.job_id)] = CodeMutant(
                str(spec.module_path),
                spec.operator_name,
                spec.occurrence,
                spec.start_pos,
                spec.end_pos,
            )
        return found

    @property
    def results(self) -> dict[int, Result]:
        """The results that are known."""
        return {
            int(number): Result(_WORDS[kept.worker_outcome, kept.test_outcome], kept.output or "")
            for number, kept in self._db.results
        }

    @property
    def patches(self) -> dict[int, str]:
        """What the played mutants change."""
        return {int(number): kept.diff or "" for number, kept in self._db.results}
